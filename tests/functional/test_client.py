"""The Python client against a real server, its worker, and keys."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import steelyard
from servers.nginx import nginx_before
from servers.run_service import document, record, write_project
from servers.serve_process import serving
from steelyard.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    UnauthorizedError,
)

GRADED = {"target": "echo", "rubric": "rubric/found@1.0"}
RECORDS = [record("a"), record("b", "nothing"), {"record_id": "c"}]


class Served(NamedTuple):
    url: str
    root: Path
    keys: dict[str, str]

    def client(self, role: str = "editor") -> steelyard.Client:
        return steelyard.Client(self.url, key=self.keys[role])


def _key(root: Path, role: str) -> str:
    words = [sys.executable, "-m", "steelyard", "key", "create", role, "--role", role]
    return subprocess.run(
        words, cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with login and a worker, and a key of every role."""
    root = tmp_path_factory.mktemp("served")
    write_project(root)
    subprocess.run(
        [
            *(sys.executable, "-m", "steelyard", "user", "add", "ada"),
            *("--role", "admin", "--password-stdin"),
        ],
        cwd=root,
        input="correct horse battery\n",
        text=True,
        check=True,
    )
    keys = {role: _key(root, role) for role in ("viewer", "editor")}
    with serving(root, "--login") as process:
        yield Served(process.url, root, keys)


@pytest.fixture(scope="module")
def finished(served: Served) -> str:
    """A run that has ended."""
    with served.client() as client:
        started = client.start_run(document(RECORDS), **GRADED)
        assert started.status == "accepted_with_record_errors"
        assert started.summary["rejected_records"] == 1
        assert [one["record_id"] for one in started.record_errors] == ["c"]
        assert client.wait(started.run_id).status == "completed_with_failures"
        return started.run_id


def test_a_key_says_who_asks_and_what_they_may_do(served: Served) -> None:
    me = served.client("viewer").me()

    assert (me.role, me.scopes) == ("viewer", ("registry:read", "runs:read"))
    with pytest.raises(ForbiddenError, match=r"runs:write.*\(request "):
        served.client("viewer").start_run(document(RECORDS), **GRADED)
    with pytest.raises(UnauthorizedError):
        steelyard.Client(served.url, key="sy_wrong").me()
    with pytest.raises(UnauthorizedError):
        steelyard.Client(served.url).run("latest")


def test_results_are_typed(served: Served, finished: str) -> None:
    client = served.client("viewer")
    run = client.run(finished)
    rows = list(client.records(finished))
    (failure,) = client.failures(finished)
    (attempt,) = client.attempts(finished, 0)

    assert [one.record_id for one in rows] == ["a", "b", "c"]
    assert [one.record_id for one in client.records(finished, passed=True)] == ["a"]
    assert client.record(finished, 2).failure == failure
    assert client.record(finished, 1).evaluator_scores[0].check == "says_word"
    assert (attempt.call, attempt.error_code) == ("target", None)
    assert client.metrics(finished) == run.metrics
    assert client.metrics(finished).pass_count == 1
    assert client.manifest(finished).setup.dataset_id == "posted"
    assert finished in [one.run_id for one in client.runs()]


def test_slices_are_those_of_all_pages(served: Served) -> None:
    tags = [f"tag-{number}" for number in range(101)]
    with served.client() as client:
        records = [{**record(tag), "tags": [tag]} for tag in tags]
        started = client.start_run(document(records), **GRADED)
        client.wait(started.run_id)
        slices = client.slices(started.run_id)

    assert {one.value for one in slices if one.slice == "tags"} == set(tags)
    assert len({one.name for one in slices}) == len(slices)


def test_artifacts_are_those_of_the_server(served: Served, finished: str, tmp_path: Path) -> None:
    found = served.client("viewer").download(finished, tmp_path)

    kept = served.root / ".steelyard" / "runs" / finished
    for path in kept.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
    assert len(found.files) == 8
    assert steelyard.read_run(tmp_path).run_id == finished


def test_one_idempotency_key_starts_one_run(served: Served, tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(document(RECORDS)), encoding="utf-8")
    client = served.client()
    first, again = (
        client.start_run(path, idempotency_key="one", **GRADED).run_id for _ in range(2)
    )

    assert first == again
    with pytest.raises(ConflictError):
        client.start_run(document([record("other")]), idempotency_key="one", **GRADED)


def test_a_run_is_changed_and_derived_from(served: Served, finished: str) -> None:
    client = served.client()
    stopped = client.start_run(document(RECORDS), **{**GRADED, "target": "slow"})
    client.cancel(stopped.run_id)
    client.wait(stopped.run_id)
    retried = client.retry(stopped.run_id)
    client.cancel(retried.run_id)
    regraded = client.regrade(finished, rubric="rubric/found@1.0")
    for one, first in ((retried, stopped.run_id), (regraded, finished)):
        assert one.derived_from == first
        assert client.wait(one.run_id).is_finished
    with pytest.raises(ConflictError):
        client.cancel(finished)
    with pytest.raises(InvalidError, match="no failed record to try again"):
        client.retry(finished)

    assert client.compare(finished, regraded.run_id).verdict == "no difference detectable"


def test_a_run_is_cancelled(served: Served) -> None:
    client = served.client()
    many = [record(f"r{number}", f"word {number}") for number in range(400)]
    run_id = client.start_run(document(many), **{**GRADED, "target": "slow"}).run_id
    kinds = list[str]()
    for event in client.events(run_id):
        kinds.append(event.kind)
        if event.kind == "progress" and "asked" not in kinds:
            client.cancel(run_id)
            kinds.append("asked")

    assert kinds[-1] == "end"
    assert client.run(run_id).status == "cancelled"


def test_the_catalogs_of_the_server_are_used(served: Served, tmp_path: Path) -> None:
    client = served.client()
    rubric = tmp_path / "polite.yaml"
    text = (served.root / "rubrics" / "found.yaml").read_text(encoding="utf-8")
    rubric.write_text(text.replace("id: found", "id: polite"), encoding="utf-8")
    created = client.rubrics.create(rubric)
    published = client.rubrics.publish(created.ref)

    assert (created.ref, created.findings) == ("polite@1.0.0", ())
    assert published["reference"] == "rubric/polite@1.0.0"
    assert client.rubrics.get("polite@1.0.0").status == "published"
    assert "polite@1.0.0" in [one.ref for one in client.rubrics.list()]
    assert client.rubrics.diff("polite@1.0.0", "found@1.0.0")["differences"]
    assert client.rubrics.archive("polite@1.0.0")["status"] == "archived"


def test_a_dataset_and_a_suite_of_the_server_are_run(served: Served) -> None:
    client = served.client()
    created = client.datasets.create(document([record("a")], dataset_id="kept"))
    client.suites.create({"name": "nightly", "dataset": created.reference, **GRADED})
    client.suites.update("nightly", {"dataset": created.reference, **GRADED, "fail_under": 0.5})

    assert client.suites.get("nightly")["fail_under"] == 0.5
    assert "nightly" in [one["name"] for one in client.suites.list()]
    run = client.wait(client.start_run(suite="nightly").run_id)
    again = client.wait(client.start_run(dataset=created.ref, **GRADED).run_id)
    assert [run.dataset_id, again.dataset_id] == ["kept", "kept"]
    client.suites.delete("nightly")
    with pytest.raises(NotFoundError):
        client.suites.get("nightly")
    with pytest.raises(ForbiddenError):
        list(client.targets.list())


def test_a_file_of_any_contract_is_validated(served: Served) -> None:
    report = served.client("viewer").validate(b'{"id": "a", "input": 1}\n', name="cases.jsonl")

    assert (report.valid, report.total, report.accepted) == (False, 1, 0)
    assert report.findings[0].is_error


def test_documents_are_sent_in_nfc_wherever_they_are_taken(served: Served) -> None:
    client = served.client()
    composed = document([record("a", "cafe\u0301")], dataset_id="composed")

    assert client.validate(composed).findings == ()
    assert client.datasets.create(composed).findings == ()
    assert client.start_run(composed, **GRADED).record_errors == ()


def test_what_is_wrong_is_the_exception_of_python(served: Served) -> None:
    client = served.client()

    with pytest.raises(NotFoundError, match=r"run_nowhere.*\(request [0-9a-f-]{36}\)"):
        client.run("run_nowhere")
    with pytest.raises(InvalidError, match="All records failed validation") as raised:
        client.start_run(document([{"record_id": "x"}]), **GRADED)
    assert raised.value.details == {"rejected_records": 1, "accepted_records": 0}
    with pytest.raises(InvalidError, match="not a known field"):
        client.start_run(document(RECORDS), **GRADED, nonsense=1)


def test_async_callers_follow_several_runs_at_once(served: Served) -> None:
    async def follow() -> list[str]:
        async with steelyard.AsyncClient(served.url, key=served.keys["editor"]) as client:
            started = await asyncio.gather(
                *(client.start_run(document(RECORDS), **GRADED) for _ in range(4))
            )
            ended = await asyncio.gather(*(client.wait(one.run_id) for one in started))
            rows = [row.record_id async for row in client.records(ended[0].run_id)]
            assert rows == ["a", "b", "c"]
            assert (await client.rubrics.get("found@1.0.0")).id == "found"
            assert (await client.suites.get("saved"))["target"] == "echo"
            assert [one["name"] async for one in client.suites.list()] == ["saved"]
            with pytest.raises(NotFoundError):
                await client.datasets.get("nowhere@1")
            assert (await client.judges.get("reference@1.0.0")).id == "reference"
            with pytest.raises(ForbiddenError):
                await client.targets.get("slow")
            assert repr(client) == f"AsyncClient('{served.url}')"
            return [one.status for one in ended]

    assert asyncio.run(follow()) == ["completed_with_failures"] * 4


def test_everything_works_behind_a_proxy(served: Served, tmp_path: Path) -> None:
    many = [record(f"r{number}", f"word {number} {'x' * 5000}") for number in range(400)]
    path = tmp_path / "large.json"
    path.write_text(json.dumps(document(many)), encoding="utf-8")
    with (
        nginx_before(served.url, tmp_path / "nginx") as url,
        steelyard.Client(url, key=served.keys["editor"]) as client,
    ):
        run_id = client.start_run(path, **{**GRADED, "target": "slow"}, limit=40).run_id
        began, first = time.monotonic(), 0.0
        for event in client.events(run_id):
            if event.kind == "progress":
                first = first or time.monotonic() - began
        lasted = time.monotonic() - began
        found = client.download(run_id, tmp_path / "run")

    assert first < lasted - 0.3  # not buffered until the end
    assert len(found.files) == 8


@pytest.mark.trials
def test_following_goes_on_when_the_server_is_killed_and_started_again(tmp_path: Path) -> None:
    write_project(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    many = [record(f"r{number}", f"word {number}") for number in range(120)]
    ids, statuses = list[int](), list[str]()

    def follow(url: str, run_id: str) -> None:
        with steelyard.Client(url) as client:
            for event in client.events(run_id):
                ids.append(event.id)
            statuses.append(client.run(run_id).status)

    with serving(tmp_path, "--port", port) as process:
        client = steelyard.Client(process.url)
        run_id = client.start_run(document(many), **{**GRADED, "target": "slow"}).run_id
        thread = threading.Thread(target=follow, args=(process.url, run_id))
        thread.start()
        while not ids:
            time.sleep(0.05)
        process.process.kill()
    time.sleep(0.5)
    with serving(tmp_path, "--port", port):
        thread.join(60)

    assert statuses == ["completed"]
    assert ids == sorted(ids)
    assert len(set(ids)) >= len(ids) - 1
