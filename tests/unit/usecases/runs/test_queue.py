"""The queue of runs that workers execute."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Generator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from servers.object_store import object_store
from servers.run_service import document, record, write_project
from steelyard.errors import BucketAwayError, ConflictError
from steelyard.event_loop import run_async
from steelyard.execution.prepared import Prepared
from steelyard.execution.run_options import RunOptions
from steelyard.formats.json_text import compact
from steelyard.model.run import Result
from steelyard.project import Project, open_project
from steelyard.results.stored_run import StoredRun
from steelyard.store.buckets import bucket
from steelyard.store.buckets.bucket import Bucket
from steelyard.store.buckets.bucket_runs import BucketRuns
from steelyard.store.buckets.shared_files import SharedFiles
from steelyard.usecases.datasets.create_definition import create_dataset
from steelyard.usecases.datasets.publish_dataset import publish_dataset
from steelyard.usecases.datasets.uploads import Upload
from steelyard.usecases.registry.archive import archive
from steelyard.usecases.results.run_events import run_events
from steelyard.usecases.runs import queue
from steelyard.usecases.runs.execute import create_run, plan_run, prepare_again, start_run
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.queue import (
    enqueue_run,
    execute_queued_run,
    next_queued_run,
    request_cancel,
)

pytestmark = pytest.mark.usefixtures("both_stores")

OPTIONS = RunOptions(dataset=Path("d.json"), target="echo", rubric="rubric/found@1.0")


@pytest.fixture
def project(tmp_path: Path) -> Generator[Project]:
    write_project(tmp_path)
    (tmp_path / "d.json").write_bytes(compact(document([record("a"), record("b")])))
    with open_project(tmp_path) as opened:
        yield opened


def queue_run(project: Project, options: RunOptions = OPTIONS) -> StoredRun:
    """A new run that waits."""
    return asyncio.run(create_run(project.run_ports(), options, in_place=True))


def execute(project: Project, run: StoredRun) -> StoredRun:
    """A run after a worker has taken it."""
    ports = project.run_ports(lambda _: None)
    run_async(lambda: execute_queued_run(ports, project.run_queue, run, lambda _: None))
    return project.store.find(run.run_id)


def interrupt(_result: Result) -> None:
    """Stop a run at its first result."""
    raise KeyboardInterrupt


def test_the_oldest_run_comes_first_and_leaves_the_queue_when_it_ends(project: Project) -> None:
    first, second = queue_run(project), queue_run(project)

    taken = next_queued_run(project.run_queue, project.is_alive)

    assert taken
    assert taken.run_id == first.run_id
    ended = execute(project, taken)
    assert (ended.status, ended.is_queued) == ("completed", False)
    found = next_queued_run(project.run_queue, project.is_alive)
    assert found
    assert found.run_id == second.run_id


@pytest.mark.parametrize(("deaths", "is_first"), [(1, True), (3, False)])
def test_a_run_whose_processes_die_again_and_again_waits_for_the_others(
    project: Project, deaths: int, *, is_first: bool
) -> None:
    first, second = queue_run(project), queue_run(project)
    for death in range(deaths):
        found = project.store.find(first.run_id)
        assert project.store.claim(found, f"gone:{death}", found.created_at)

    taken = next_queued_run(project.run_queue, lambda _owner: False)

    assert taken
    assert taken.run_id == (first if is_first else second).run_id


def test_an_interrupted_run_of_the_command_line_is_never_taken(project: Project) -> None:
    ports = project.run_ports()
    prepared = asyncio.run(plan_run(ports, OPTIONS))
    with pytest.raises(KeyboardInterrupt):
        run_async(lambda: start_run(ports, prepared, lambda _: None, interrupt))
    run = project.store.find("latest")

    assert not run.is_queued
    assert next_queued_run(project.run_queue, project.is_alive) is None
    enqueue_run(ports, project.run_queue, run.run_id)
    taken = next_queued_run(project.run_queue, project.is_alive)
    assert taken
    assert execute(project, taken).status == "completed"


def test_a_stopped_worker_leaves_its_run_in_the_queue(project: Project) -> None:
    run, ports = queue_run(project), project.run_ports()

    with pytest.raises(KeyboardInterrupt):
        run_async(lambda: execute_queued_run(ports, project.run_queue, run, interrupt))

    stopped = project.store.find(run.run_id)
    assert (stopped.is_queued, stopped.owner) == (True, None)
    assert execute(project, stopped).status == "completed"


def test_a_run_that_cannot_go_on_leaves_the_queue_and_says_why(project: Project) -> None:
    run = queue_run(project, structs.replace(OPTIONS, target="slow"))
    rubric = project.root / "rubrics" / "found.yaml"
    text = rubric.read_text(encoding="utf-8")
    rubric.write_text(text.replace("[word]", "[other]"), encoding="utf-8")

    stopped = execute(project, run)

    assert (stopped.status, stopped.is_queued, stopped.owner) == ("validating", False, None)
    warning = run_events(project.store, run.run_id)[-1]
    assert warning.kind == "warning"
    assert "a rubric of" in str(warning.data["message"])
    rubric.write_text(text, encoding="utf-8")
    enqueue_run(project.run_ports(), project.run_queue, run.run_id)
    assert execute(project, project.store.find(run.run_id)).status == "completed"


def test_a_cancelled_run_is_sealed_by_the_next_worker(project: Project) -> None:
    run = queue_run(project)
    request_cancel(project.run_ports(), project.run_queue, run.run_id)

    with pytest.raises(ConflictError, match="being cancelled"):
        enqueue_run(project.run_ports(), project.run_queue, run.run_id)
    assert execute(project, project.store.find(run.run_id)).status == "cancelled"
    assert [state for state, _ in project.store.state_times(run.run_id)] == ["queued", "cancelled"]


def save_dataset(project: Project, records: list[Any]) -> None:
    data = compact(document(records))
    upload = Upload("d.json", partial(BytesIO, data), len(data), sha256(data).hexdigest())
    assert create_dataset(project.registry_ports(), upload).saved


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("change", ["archived", "replaced", "published and archived"])
def test_a_run_of_a_saved_dataset_reads_what_it_was_created_with(
    change: str, workers: int, project: Project
) -> None:
    save_dataset(project, [record("a"), record("b")])
    name = "dataset/posted@1"
    run = queue_run(project, structs.replace(OPTIONS, dataset=Path(name), workers=workers))
    ports = project.registry_ports()
    if change == "replaced":
        save_dataset(project, [record("c")])
    if change == "published and archived":
        assert publish_dataset(ports, name).outcome == "published"
    if change != "replaced":
        assert archive(ports, "dataset", "posted@1").outcome == "archived"

    ended = execute(project, run)

    assert (ended.status, ended.is_queued) == ("completed", False)
    rows = (project.folder / "runs" / run.run_id / "predictions.jsonl").read_bytes().splitlines()
    assert [json.loads(row)["record_id"] for row in rows] == ["a", "b"]


def test_a_run_that_was_cancelled_meanwhile_is_not_resumed(project: Project) -> None:
    """The condition is part of the change: whoever resumes may have looked before the cancel."""
    ports, run = project.run_ports(), queue_run(project)
    entry = ports.entry("resume_run", run.run_id)
    ports.repository.request_cancel(run.run_id, entry)

    assert project.run_queue.resume(run.run_id, entry) is False
    with pytest.raises(ConflictError, match="is being cancelled"):
        enqueue_run(ports, project.run_queue, run.run_id)


def test_a_run_that_is_cancelled_while_it_is_validated_never_runs(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = queue_run(project)

    async def cancelled_meanwhile(ports: RunPorts, held: StoredRun) -> Prepared:
        request_cancel(ports, project.run_queue, held.run_id)
        return await prepare_again(ports, held)

    monkeypatch.setattr(queue, "prepare_again", cancelled_meanwhile)
    ended = execute(project, run)
    states = [state for state, _ in project.store.state_times(run.run_id)]

    assert (ended.status, states) == ("cancelled", ["queued", "validating", "cancelled"])
    assert ended.summary
    assert ended.summary["cancelled_records"] == 2


def test_a_run_that_is_cancelled_and_loses_its_dataset_is_sealed_with_what_it_has(
    project: Project,
) -> None:
    run, ports = queue_run(project, structs.replace(OPTIONS, target="slow")), project.run_ports()

    def cancelled_meanwhile(_result: Result) -> None:
        request_cancel(ports, project.run_queue, run.run_id)
        (project.root / "d.json").write_text("{}", encoding="utf-8")

    work = execute_queued_run(ports, project.run_queue, run, cancelled_meanwhile)
    run_async(lambda: work)
    ended = project.store.find(run.run_id)

    assert ended.status == "cancelled"
    assert ended.summary
    assert ended.summary["unread_records"] == 0


def test_a_run_that_another_process_has_claimed_is_left_to_it(project: Project) -> None:
    run = queue_run(project)
    assert project.store.claim(run, "elsewhere:1:", project.clock.stamp())

    after = execute(project, run)

    assert (after.owner, after.is_queued, after.status) == ("elsewhere:1:", True, "queued")
    assert next_queued_run(project.run_queue, lambda _: True) is None
    taken = next_queued_run(project.run_queue, lambda _: False)
    assert taken
    assert taken.run_id == run.run_id


@pytest.fixture
def bucketed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Generator[Project]:
    """The same project, whose runs are sealed in a bucket."""
    monkeypatch.setattr(bucket, "_RETRY_S", 0)
    with (project.root / "steelyard.yaml").open("a", encoding="utf-8") as stream:
        stream.write("artifacts: s3://evals/team/a\n")
    with object_store() as store, open_project(project.root) as opened:
        for name, value in store.environ.items():
            monkeypatch.setenv(name, value)
        yield opened


@pytest.mark.parametrize("is_cancelled", [False, True])
@pytest.mark.parametrize("inputs_in_bucket", [False, True])
def test_a_run_waits_for_its_bucket_and_nothing_is_sealed_meanwhile(
    bucketed: Project,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_cancelled: bool,
    inputs_in_bucket: bool,
) -> None:
    run = queue_run(bucketed)
    bucketed.run_queue.add(run.run_id)
    if is_cancelled:
        request_cancel(bucketed.run_ports(), bucketed.run_queue, run.run_id)
    warned: list[str] = []

    def worked() -> StoredRun:
        """What a worker does that has just started."""
        with open_project(bucketed.root) as project:
            runs = BucketRuns(project.folder / "runs", Bucket("s3://evals/team/a", os.environ))
            ports = replace(project.run_ports(warned.append), artifacts=runs.artifacts)
            if inputs_in_bucket:
                shared = SharedFiles(project.folder, runs, lambda: "u")
                ports = replace(ports, inputs=shared.inputs)
            now = next_queued_run(project.run_queue, project.is_alive)
            assert now
            run_async(lambda: execute_queued_run(ports, project.run_queue, now, lambda _: None))
            return project.store.find(run.run_id)

    there = os.environ["AWS_ENDPOINT_URL"]
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(BucketAwayError, match="cannot be reached"):
        worked()
    assert bucketed.store.find(run.run_id).is_queued
    monkeypatch.setenv("AWS_ENDPOINT_URL", there)

    ended = worked()
    assert ended.status == ("cancelled" if is_cancelled else "completed")
    assert ended.summary
    assert "unread_records" not in ended.summary
    assert not [message for message in warned if "is sealed with" in message]
