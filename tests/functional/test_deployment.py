"""The steps of the page about deployment: installed from the locks, and behind nginx with TLS."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from servers.nginx import (
    free_port,
    nginx_before,
    require_nginx,
    require_valid_site,
    trusting,
)
from servers.serve_process import serving
from steelyard.usecases.datasets.open_dataset import MAX_JSON

ROOT = Path(__file__).parents[2]
RUBRIC = {
    "id": "any",
    "version": "1.0.0",
    "scoring": {"combine": "all_pass"},
    "checks": [{"id": "says a", "kind": "must_contain_any", "phrases": ["a"]}],
}


class Proxied(NamedTuple):
    """A server behind nginx."""

    client: httpx.Client
    url: str
    root: Path


@pytest.fixture(scope="module")
def behind_nginx(tmp_path_factory: pytest.TempPathFactory) -> Generator[Proxied]:
    """A client with a key of a server with login, through nginx."""
    require_nginx()
    root = tmp_path_factory.mktemp("served")
    (root / "steelyard.yaml").write_text("", encoding="utf-8")
    command(root, "user", "add", "ada", "--role", "admin", "--password-stdin", stdin="long enough")
    key = command(root, "key", "create", "ci", "--role", "admin").strip()
    port = free_port()
    url = f"https://localhost:{port}"
    words = ("--login", "--public-url", url, "--trusted-proxy", "127.0.0.1")
    with (
        serving(root, *words) as server,
        nginx_before(
            own_address(root, server.process.pid),
            tmp_path_factory.mktemp("proxy"),
            port=port,
            has_tls=True,
        ),
        httpx.Client(
            base_url=url,
            verify=trusting(),
            headers={"authorization": f"Bearer {key}"},
            timeout=120,
        ) as client,
    ):
        yield Proxied(client, url, root)


def own_address(root: Path, number: int) -> str:
    """Where the server itself listens, of which its output names the public address alone."""
    for line in Path(f"/proc/{number}/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        place, state, inode = line.split()[1], line.split()[3], line.split()[9]
        if state == "0A" and inode in sockets(number):
            return f"http://127.0.0.1:{int(place.split(':')[1], 16)}"
    raise AssertionError("the server does not listen")


def sockets(number: int) -> set[str]:
    links = (str(one.readlink()) for one in Path(f"/proc/{number}/fd").iterdir())
    return {link[8:-1] for link in links if link.startswith("socket:[")}


def command(root: Path, *words: str, stdin: str | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "steelyard", *words],
        cwd=root,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def document(records: int, size: int) -> bytes:
    """A dataset document of so many records, padded to a size."""
    rows = [{"record_id": f"r{number}", "input": {"prompt": ""}} for number in range(records)]
    whole = {
        "dataset_id": "large",
        "dataset_version": "1",
        "schema_version": "1.0",
        "created_at": "2026-01-15T10:00:00Z",
        "records": rows,
    }
    missing = size - len(json.dumps(whole))
    share = missing // records
    for row in rows:
        row["input"] = {"prompt": "a" * share}
    rows[0]["input"] = {"prompt": "a" * (share + missing - share * records)}
    return json.dumps(whole).encode()


def post(client: httpx.Client, body: bytes) -> httpx.Response:
    return client.post(
        "/v1/runs",
        params={"target": "echo", "rubric": "any@1.0.0"},
        content=body,
        headers={"content-type": "application/json"},
    )


@pytest.mark.trials
def test_a_large_upload_and_its_events_go_through_nginx(behind_nginx: Proxied) -> None:
    client = behind_nginx.client
    assert client.post("/v1/rubrics", json=RUBRIC).status_code == 201
    posted = post(client, document(200, 30_000_000))
    assert posted.status_code == 202, posted.text

    moments: list[float] = []
    kinds: list[str] = []
    with client.stream("GET", f"/v1/runs/{posted.json()['run_id']}/events") as answer:
        for line in answer.iter_lines():
            if line.startswith("event: "):
                moments.append(time.monotonic())
                kinds.append(line.removeprefix("event: "))

    assert kinds[0] == "state"
    assert kinds[-1] == "end"
    assert moments[-1] - moments[0] > 0.2  # not held back until the end


@pytest.mark.trials
def test_a_body_over_the_limit_is_refused_by_the_server_itself(behind_nginx: Proxied) -> None:
    answer = post(behind_nginx.client, b" " * (MAX_JSON + 1))

    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "payload_too_large"


@pytest.mark.trials
def test_pages_at_the_public_address_alone_may_change_something(behind_nginx: Proxied) -> None:
    own, other = {"origin": behind_nginx.url}, {"origin": "https://evil.example"}

    assert behind_nginx.client.post("/v1/rubrics", json={}, headers=own).status_code == 400
    assert behind_nginx.client.post("/v1/rubrics", json={}, headers=other).status_code == 403
    assert behind_nginx.client.get("/readyz", headers={"host": "evil.example"}).status_code == 403


@pytest.mark.trials
def test_the_steps_of_the_image_make_a_server_that_is_ready(tmp_path: Path) -> None:
    """What the Dockerfile does, without Docker."""
    text = (ROOT / "examples/deploy/Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    build = text.split("\nFROM ")[1]
    home, source, project = tmp_path / "opt", tmp_path / "src", tmp_path / "project"
    source.mkdir()
    project.mkdir()
    for line in build.splitlines():
        name, _, rest = line.partition(" ")
        if name == "COPY":
            *copied, _place = rest.split()
            for one in copied:
                copy(ROOT / one, source / one)
        if name == "RUN":
            step = rest.replace("/opt/steelyard", str(home))
            step = re.sub(r"^python ", f"{sys.executable} ", step)
            subprocess.run(step, shell=True, cwd=source, check=True, capture_output=True)

    program = str(home / "bin" / "python")
    with serving(project, "--no-worker", program=program) as server:
        assert httpx.get(f"{server.url}/readyz").json()["status"] == "ready"
        assert health(text, program, server.url) == 0
        server.process.terminate()
        assert server.process.wait(20) == 0
        assert health(text, program, server.url) != 0


def health(dockerfile: str, program: str, url: str) -> int:
    """The exit code of the image's health check, of a server at another address."""
    line = next(one for one in dockerfile.splitlines() if one.startswith("HEALTHCHECK"))
    python, *words = json.loads(line.partition(" CMD ")[2])
    assert python == "python"
    words = [word.replace("http://127.0.0.1:8765", url) for word in words]
    assert url in words[-1]
    return subprocess.run([program, *words], capture_output=True, check=False).returncode


def test_nginx_takes_the_site_of_the_compose_file(tmp_path: Path) -> None:
    """The name of the server is known in the network of compose alone."""
    require_nginx()
    site = (ROOT / "examples/deploy/nginx-compose.conf").read_text(encoding="utf-8")
    assert "http://steelyard:8765" in site
    assert "steelyard:" in (ROOT / "examples/deploy/compose.yaml").read_text(encoding="utf-8")

    require_valid_site(site.replace("http://steelyard:8765", "http://127.0.0.1:8765"), tmp_path)


def copy(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, place)
