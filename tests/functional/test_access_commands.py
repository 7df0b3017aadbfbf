"""The commands for users, keys and a server with login."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeAlias

import httpx
import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


def typed(root: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command that reads its stdin."""
    return subprocess.run(
        [sys.executable, "-m", "steelyard", *words],
        cwd=root,
        input=text,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one admin."""
    made = tmp_path_factory.mktemp("project")
    (made / "steelyard.yaml").touch()
    words = ("user", "add", "ada", "--role", "admin", "--password-stdin")
    done = typed(made, "correct horse\n", *words)
    assert (done.returncode, done.stderr) == (0, "")
    return made


def test_a_key_is_printed_alone(steelyard: Steelyard, root: Path) -> None:
    done = steelyard("key", "create", "ci", "--role", "viewer", cwd=root)

    assert done.returncode == 0
    assert re.fullmatch(r"steelyard_[\w-]{43}\n", done.stdout)
    assert done.stderr == ""


def test_keys_are_listed_and_revoked(steelyard: Steelyard, root: Path) -> None:
    steelyard("key", "create", "old", "--role", "editor", "--expires", "9", cwd=root)

    revoked = steelyard("key", "revoke", "old", cwd=root)

    listed = json.loads(steelyard("key", "list", "--format", "json", cwd=root).stdout)["data"]
    text = steelyard("key", "list", cwd=root).stdout
    assert revoked.returncode == 0
    assert [one["revoked_at"] is None for one in listed if one["name"] == "old"] == [False]
    assert re.search(r"old  editor  revoked \d{4}-\d\d-\d\d  never used", text)


def test_users_are_listed_changed_and_removed(steelyard: Steelyard, root: Path) -> None:
    typed(root, "long enough", "user", "add", "bob", "--role", "viewer", "--password-stdin")
    changed = steelyard("user", "role", "bob", "editor", cwd=root)
    renewed = typed(root, "even longer", "user", "password", "bob", "--password-stdin")

    listed = json.loads(steelyard("user", "list", "--format", "json", cwd=root).stdout)["data"]
    removed = steelyard("user", "remove", "bob", cwd=root)
    assert (changed.returncode, renewed.returncode, removed.returncode) == (0, 0, 0)
    assert [(one["name"], one["role"]) for one in listed] == [("ada", "admin"), ("bob", "editor")]
    assert "ada  admin  password  since" in steelyard("user", "list", cwd=root).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("user", "add", "x y", "--role", "viewer"), "there is no terminal"),
        (("user", "add", "x", "--role", "boss"), "the roles are viewer, annotator"),
        (("user", "role", "nobody", "viewer"), "there is no user 'nobody'"),
        (("user", "role", "ada", "viewer"), "the only admin"),
        (("user", "remove", "\udcff"), "there is no user"),
        (("key", "create", "x", "--role", "viewer", "--scope", "all"), "the scopes are runs:read"),
        (
            ("key", "create", "x", "--role", "viewer", "--scope", "runs:write"),
            "the role viewer does not have runs:write; its scopes are runs:read, registry:read",
        ),
        (("key", "revoke", "nothing"), "there is no key 'nothing'"),
        (("serve", "--host", "0.0.0.0"), "--public-url https://"),
        (("serve", "--public-url", "evals.example.org"), "give scheme and host"),
        (("serve", "--public-url", "https://a.example/x"), "give scheme and host"),
        (("serve", "--public-url", "https://me:pw@a.example"), "--public-url: give scheme"),
        (("serve", "--public-url", "https://a.example:99999"), "give scheme and host"),
        (("serve", "--trusted-proxy", "proxy"), "not an address such as"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_2(
    root: Path, words: tuple[str, ...], message: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "steelyard", *map(os.fsencode, words)],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "options", [("--login",), ("--host", "0.0.0.0", "--public-url", "https://a.example")]
)
def test_a_server_with_login_needs_an_admin_first(
    steelyard: Steelyard, tmp_path: Path, options: tuple[str, ...]
) -> None:
    (tmp_path / "steelyard.yaml").touch()

    done = steelyard("serve", "--port", "0", *options, cwd=tmp_path)

    assert done.returncode == 2
    assert "steelyard user add NAME --role admin --password-stdin" in done.stderr


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """What a server process writes to stderr."""
    return tmp_path / "log"


@pytest.fixture
def url(root: Path, log: Path) -> Generator[str]:
    """A server process with login, which logs all that it can."""
    words = [sys.executable, "-m", "steelyard", "serve", "--port", "0", "--login"]
    words += ["--log-level", "debug", "--log-format", "json"]
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            words, cwd=root, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8"
        ) as process,
    ):
        assert process.stdout
        try:
            line = next(line for line in process.stdout if line.startswith("open "))
            yield line.split()[1].rstrip("/")
        finally:
            process.terminate()
            process.wait(20)


def test_keys_of_the_command_line_open_a_server_and_close_it_when_revoked(
    steelyard: Steelyard, root: Path, url: str
) -> None:
    key = steelyard("key", "create", "live", "--role", "viewer", cwd=root).stdout.strip()
    headers = {"authorization": f"Bearer {key}"}

    assert httpx.get(f"{url}/v1/runs").status_code == 401
    assert httpx.get(f"{url}/v1/runs", headers=headers).status_code == 200
    assert httpx.get(f"{url}/v1/users", headers=headers).status_code == 403
    steelyard("key", "revoke", "live", cwd=root)
    assert httpx.get(f"{url}/v1/runs", headers=headers).status_code == 401


def test_no_secret_is_logged_or_stored(
    steelyard: Steelyard, root: Path, url: str, log: Path
) -> None:
    key = steelyard("key", "create", "robot", "--role", "admin", cwd=root).stdout.strip()
    headers = {"x-api-key": key}
    login = httpx.post(f"{url}/v1/login", json={"name": "ada", "password": "correct horse"})
    session_id = login.headers["set-cookie"].partition("=")[2].partition(";")[0]
    wrong = {"name": "wrong-name-canary", "password": "wrong-password-canary"}
    added = {"name": "eve", "role": "viewer", "password": "added-password-canary"}
    statuses = [
        httpx.post(f"{url}/v1/login", json=wrong).status_code,
        httpx.get(f"{url}/v1/me", headers={"x-api-key": "wrong-key-canary"}).status_code,
        httpx.post(f"{url}/v1/users", json=added, headers=headers).status_code,
        httpx.post(f"{url}/v1/users", json={**added, "role": 1}, headers=headers).status_code,
        httpx.get(f"{url}/v1/oidc/callback?code=code-canary&state=x").status_code,
    ]
    audit = httpx.get(f"{url}/v1/audit/export", headers=headers).text

    stored = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    assert statuses == [401, 401, 201, 400, 404]
    assert log.read_bytes().count(b"\n") >= len(statuses)
    written = log.read_bytes() + audit.encode() + stored
    found = [
        one for one in (key, session_id, "correct horse", "canary") if one.encode() in written
    ]
    assert found == []
