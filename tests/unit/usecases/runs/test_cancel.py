"""A run is cancelled at any stage: soon, with a result for every record, and sealed."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from checker import Trial, check_run, stored_predictions
from fakes.audit import an_entry
from fakes.metrics import measured
from fakes.projects import Project, json_of, row, rows_of
from fakes.stops import Stopped, StoppingTarget, stopping_at_artifact, stopping_at_state
from fakes.targets import ScriptedTarget, fails
from steelyard.engine.states import is_terminal
from steelyard.errors import RequestError
from steelyard.model.run import RunState
from steelyard.reports.run.run_text import run_lines
from steelyard.results.stored_run import StoredRun
from steelyard.store.artifacts import ArtifactFileDraft, ArtifactFolder
from steelyard.store.runs import leases
from steelyard.store.runs.repository import RunStore
from steelyard.usecases.results.read_run import read_predictions, read_run
from steelyard.usecases.runs import cancel
from steelyard.usecases.runs.cancel import cancel_run
from steelyard.usecases.runs.execute import FinishedRun, start_run
from steelyard.usecases.runs.ports import RunPorts

RAN: list[RunState] = ["queued", "validating", "running", "finalizing"]
ROWS = [row(f"r{number}") for number in range(12)]
LIVE = """\
targets:
  live: {provider: openai, base_url: "http://127.0.0.1:1/v1", model: m-1, api_key_env: LIVE_KEY}
"""
RUBRIC = """\
id: any
version: 1.0.0
checks: [{id: yes, kind: equals, value: yes}]
scoring: {combine: all_pass}
"""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for another looks often."""
    monkeypatch.setattr(leases, "_LOOK_S", 0.01)
    monkeypatch.setattr(cancel, "_LOOK_S", 0.01)


def living(_: str) -> bool:
    return True


def dead(_: str) -> bool:
    return False


def hanging() -> ScriptedTarget:
    target = ScriptedTarget()
    target.held = asyncio.Event()
    return target


def cancelled(
    project: Project, target: ScriptedTarget, when: Callable[[], bool], **options: Any
) -> tuple[FinishedRun, StoredRun]:
    """A run that another process cancels when it has come so far; what both of them saw."""
    ports, other = project.ports(target), project.ports()
    prepared = project.prepare(ports, project.cases(ROWS), **options)

    async def run() -> tuple[FinishedRun, StoredRun]:
        started = start_run(ports, prepared, lambda _: None, project.seen.append)
        running = asyncio.ensure_future(started)
        while not when():
            await asyncio.sleep(0.005)
        after = await cancel_run(other, other.repository.find("latest"))
        return await asyncio.wait_for(running, 120), after

    return asyncio.run(run())


def states_of(folder: Path) -> list[str]:
    manifest = json.loads((folder / "run_manifest.json").read_bytes())
    assert manifest["started_at"] == next(
        (entry["at"] for entry in manifest["states"] if entry["state"] == "running"), None
    )
    return [entry["state"] for entry in manifest["states"]]


def statuses(run: FinishedRun) -> list[tuple[str, int]]:
    made: dict[int, int] = {}
    for entry in rows_of(run, "attempt_logs.jsonl"):
        made[entry["index"]] = made.get(entry["index"], 0) + 1
    return [(entry["status"], made.get(entry["index"], 0)) for entry in rows_of(run)]


def check_cancelled(run: FinishedRun, after: StoredRun) -> None:
    manifest = json_of(run)

    assert run.status == after.status == manifest["status"] == "cancelled"
    assert [entry["state"] for entry in manifest["states"]][-2:] == ["finalizing", "cancelled"]
    assert after.owner is None
    check_run(Path(run.folder))


def test_calls_that_hang_are_broken_off(project: Project) -> None:
    target = hanging()
    run, after = cancelled(project, target, lambda: len(target.calls) == 3, max_concurrency=3)

    check_cancelled(run, after)
    assert statuses(run) == [("cancelled", 1)] * 3 + [("cancelled", 0)] * 9
    assert measured(run).cancelled_records == 12


def test_what_was_answered_before_stays(project: Project) -> None:
    class Slowing(ScriptedTarget):
        async def ask(self, request: Any) -> Any:
            if len(self.calls) == 5:
                self.held = asyncio.Event()
            return await super().ask(request)

    target = Slowing()
    run, after = cancelled(project, target, lambda: len(project.seen) == 5, max_concurrency=1)

    check_cancelled(run, after)
    assert statuses(run) == [("evaluated", 1)] * 5 + [("cancelled", 1)] + [("cancelled", 0)] * 6
    assert measured(run).pass_count == 5


@pytest.mark.parametrize(
    "failure",
    [fails("timeout"), fails("rate_limited"), fails("rate_limited", retry_after_s=250.0)],
    ids=["backoff", "429", "silence"],
)
def test_a_wait_is_no_reason_to_wait(project: Project, failure: Exception) -> None:
    project.write("steelyard.yaml", "retry: {backoff_s: [200, 200]}")
    target = ScriptedTarget(otherwise=failure)
    run, after = cancelled(project, target, lambda: bool(target.calls))

    check_cancelled(run, after)
    assert {status for status, _ in statuses(run)} == {"cancelled"}
    assert {made for _, made in statuses(run)} <= {0, 1}


def test_a_run_is_cancelled_while_it_is_retrying(project: Project) -> None:
    project.write("steelyard.yaml", "retry: {backoff_s: [200, 200]}")
    target = ScriptedTarget({"r3": [fails("timeout")]})
    store = project.ports().repository

    def is_retrying() -> bool:
        found = store.list(1)
        return bool(found) and found[0].status == "retrying"

    run, after = cancelled(project, target, is_retrying)

    check_cancelled(run, after)
    assert statuses(run).count(("evaluated", 1)) == 11
    assert statuses(run)[3] == ("cancelled", 1)


class Asking(ArtifactFolder):
    """Somebody asks for a cancel while an artifact is begun."""

    def __init__(self, folder: ArtifactFolder, name: str, ask: Callable[[], None]) -> None:
        super().__init__(folder.folder)
        self._name = name
        self._ask = ask

    def draft(self, name: str) -> ArtifactFileDraft:
        if name == self._name:
            self._ask()
        return super().draft(name)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("input_dataset.json", "cancelled"),
        ("metrics_by_slice.json", "cancelled"),
        ("run_manifest.json", "completed"),
    ],
)
def test_a_run_may_be_cancelled_until_its_manifest_is_written(
    project: Project, name: str, status: RunState
) -> None:
    ports, other = project.ports(ScriptedTarget()), project.ports()

    def artifacts(run_id: str) -> Asking:
        folder = project.root / ".steelyard" / "runs" / run_id
        cancel = partial(other.repository.request_cancel, run_id, an_entry())
        return Asking(ArtifactFolder(folder), name, cancel)

    run = project.run(replace(ports, artifacts=artifacts), project.cases(ROWS))
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))

    assert run.status == after.status == json_of(run)["status"] == status
    assert {status for status, _ in statuses(run)} == {"evaluated"}
    check_run(Path(run.folder))


def stop(project: Project, ports: RunPorts) -> Path:
    """A run that is stopped and that nobody works on; where its artifacts will be."""
    with pytest.raises(Stopped):
        project.run(ports, project.cases(ROWS), max_concurrency=2)
    run_id = project.ports().repository.find("latest").run_id
    return project.root / ".steelyard" / "runs" / run_id


@pytest.mark.parametrize(
    ("state", "seen", "evaluated"),
    [
        ("validating", ["queued", "cancelled"], 0),
        ("running", ["queued", "validating", "cancelled"], 0),
        ("finalizing", [*RAN, "cancelled"], 12),
        ("completed", [*RAN, "completed"], 12),
    ],
)
def test_a_run_that_nobody_works_on_is_sealed_without_a_call(
    project: Project, state: str, seen: list[RunState], evaluated: int
) -> None:
    ports = replace(stopping_at_state(project.ports(ScriptedTarget()), state), owner="gone:1:1")
    folder = stop(project, ports)
    target = ScriptedTarget()
    other = project.ports(target, is_alive=dead)
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))

    assert target.calls == []
    assert after.status == seen[-1]
    assert states_of(folder) == seen
    assert after.summary
    assert after.summary["evaluated_records"] == evaluated
    check_run(folder)


def test_a_run_that_was_stopped_in_the_middle_keeps_what_it_had(project: Project) -> None:
    folder = stop(project, project.ports(StoppingTarget(after=5)))
    kept = stored_predictions(folder)
    target = ScriptedTarget()
    other = project.ports(target)
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))

    assert kept
    assert target.calls == []
    assert after.status == "cancelled"
    check_run(folder, Trial(acknowledged=kept))


def test_a_cancelled_run_is_finalizing_before_its_last_records_are_stored(
    project: Project,
) -> None:
    """Whoever dies in between leaves the rest to the next, who asks nobody."""
    target, ports = hanging(), project.ports()
    run_id, seen = "", dict[int, str]()

    def look(result: Any) -> None:
        seen[result.index] = ports.repository.find(run_id).status
        if len(seen) == 9:  # six calls at most were not committed when the cancel came
            raise KeyboardInterrupt

    async def run() -> None:
        nonlocal run_id
        own = project.ports(target)
        prepared = project.prepare(own, project.cases(ROWS), max_concurrency=3)
        running = asyncio.ensure_future(start_run(own, prepared, lambda _: None, look))
        while len(target.calls) < 3:
            await asyncio.sleep(0.005)
        run_id = ports.repository.find("latest").run_id
        ports.repository.request_cancel(run_id, an_entry())
        await running

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run())
    stopped = ports.repository.find(run_id)
    again = ScriptedTarget()
    other = project.ports(again)
    after = asyncio.run(cancel_run(other, stopped))
    folder = project.root / ".steelyard" / "runs" / run_id

    assert stopped.status == "finalizing"
    assert list(seen.values())[-1] == "finalizing"
    assert again.calls == []
    assert (after.status, states_of(folder)) == ("cancelled", [*RAN, "cancelled"])
    assert len(stored_predictions(folder)) == 12
    check_run(folder)


def test_two_that_cancel_at_once_see_the_same_end(project: Project) -> None:
    stop(project, project.ports(StoppingTarget(after=5)))
    ended: list[StoredRun | BaseException] = []

    def end(ports: RunPorts) -> None:
        try:
            ended.append(asyncio.run(cancel_run(ports, ports.repository.find("latest"))))
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test tells
            ended.append(error)

    many_ports = [
        project.ports(ScriptedTarget(), owner=f"here:{n}:", is_alive=living) for n in range(4)
    ]
    threads = [threading.Thread(target=end, args=(ports,)) for ports in many_ports]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [run.status for run in ended if isinstance(run, StoredRun)] == ["cancelled"] * 4
    assert len({str(run) for run in ended}) == 1


def test_a_run_at_work_is_cancelled_twice_as_it_is_once(project: Project) -> None:
    target = hanging()
    ports, others = project.ports(target), [project.ports() for _ in range(2)]
    prepared = project.prepare(ports, project.cases(ROWS), max_concurrency=3)

    async def run() -> tuple[FinishedRun, list[StoredRun]]:
        started = start_run(ports, prepared, lambda _: None, project.seen.append)
        running = asyncio.ensure_future(started)
        while len(target.calls) < 3:
            await asyncio.sleep(0.005)
        asked = [cancel_run(other, other.repository.find("latest")) for other in others]
        after = await asyncio.wait_for(asyncio.gather(*asked), 120)
        return await running, list(after)

    run_done, seen = asyncio.run(run())

    for after in seen:
        check_cancelled(run_done, after)
    assert statuses(run_done) == [("cancelled", 1)] * 3 + [("cancelled", 0)] * 9


@pytest.mark.parametrize("times", [1, 2])
def test_a_finished_run_stays_as_it_is(project: Project, times: int) -> None:
    project.run(project.ports(ScriptedTarget()), project.cases(ROWS))
    other = project.ports()
    before = other.repository.find("latest")
    for _ in range(times):
        after = asyncio.run(cancel_run(other, other.repository.find("latest")))
        assert after == before
        assert not after.is_cancelling


def test_a_cancelled_run_is_not_gone_on_with(project: Project) -> None:
    stop(project, project.ports(StoppingTarget(after=5)))
    other = project.ports(ScriptedTarget())
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))
    again = project.resume(project.ports(ScriptedTarget()))

    assert again.status == after.status == "cancelled"
    assert measured(again).json() == after.summary


def test_a_process_that_does_not_answer_is_waited_for_only_so_long(project: Project) -> None:
    ports = replace(
        stopping_at_state(project.ports(ScriptedTarget()), "running"), owner="busy:1:1"
    )
    stop(project, ports)
    other = project.ports(owner="me:1:1", is_alive=living)
    after = asyncio.run(cancel_run(other, other.repository.find("latest"), patience_s=0.05))

    assert not is_terminal(after.status)
    assert after.is_cancelling


def gone(project: Project) -> None:
    (project.root / "d.jsonl").unlink()


def changed(project: Project) -> None:
    project.cases([row("other")])


def changed_for_a_while(project: Project) -> None:
    """The file is the old one again, but a result was kept that is not of its records."""
    connection = sqlite3.connect(project.root / ".steelyard" / "steelyard.db")
    with closing(connection), connection:
        connection.execute(
            "UPDATE results SET validation = CAST(replace(CAST(validation AS TEXT), "
            '\'"record_sha256":"\', \'"record_sha256":"0\') AS BLOB) WHERE idx = 0'
        )


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (gone, "no such file: d.jsonl"),
        (changed, "the dataset of run_"),
        (changed_for_a_while, "belong to another version of d.jsonl"),
    ],
)
def test_a_run_whose_dataset_cannot_be_read_is_sealed_with_what_it_has_kept(
    project: Project,
    caplog: pytest.LogCaptureFixture,
    harm: Callable[[Project], None],
    said: str,
) -> None:
    folder = stop(project, project.ports(StoppingTarget(after=5)))
    harm(project)
    kept = stored_predictions(folder)
    other = project.ports(ScriptedTarget())
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))
    manifest = json.loads((folder / "run_manifest.json").read_bytes())
    shown = read_run(folder)
    rows = list(read_predictions(folder))

    check_run(folder, Trial(acknowledged=kept))
    assert after.status == manifest["status"] == "cancelled"
    assert said in manifest["unread"]
    assert said in caplog.text
    assert after.summary
    evaluated = sum(one.status == "evaluated" for one in rows)
    assert after.summary["unread_records"] == 12 - len(rows)
    assert after.summary["cancelled_records"] == 12 - evaluated
    assert after.summary["total_records"] == after.summary["valid_records"] == 12
    bounds = {"low": evaluated / 12, "high": 1.0}  # all that were asked have passed
    assert after.summary["pass_rate_bounds"] == bounds
    assert manifest["targets"] == {"scripted": {"provider": "scripted"}}
    assert manifest["dataset_id"] == "d"
    assert any(manifest["unread"] in line for line in run_lines(shown))


@pytest.mark.parametrize("state", ["validating", "running"])
def test_a_run_that_never_asked_anybody_counts_what_it_accepted(
    project: Project, state: str
) -> None:
    """Valid and invalid records as they were when the run began."""
    ports = stopping_at_state(project.ports(ScriptedTarget()), state)
    project.cases([*ROWS, {"id": "invalid"}])
    with pytest.raises(Stopped):
        project.run(replace(ports, owner="gone:1:1"), Path("d.jsonl"), repeat=2)
    gone(project)
    other = project.ports(ScriptedTarget(), is_alive=dead)
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))
    found = cast("dict[str, Any]", after.summary)
    names = ("total", "valid", "evaluated", "failed", "invalid", "skipped", "cancelled", "unread")

    check_run(project.root / ".steelyard" / "runs" / after.run_id)
    assert [found[f"{name}_records"] for name in names] == [13, 12, 0, 1, 1, 12, 12, 13]
    assert found["missing"] == {"missing": 12, "valid": 12, "uneven_slices": []}
    assert found["pass_rate_bounds"] == {"low": 0, "high": 1}


def test_a_dataset_that_names_another_target_by_now_is_no_longer_the_runs(
    project: Project,
) -> None:
    project.write("steelyard.yaml", "targets: {a: {provider: echo}}")
    rows = [row("r", execution={"target": "a"})]
    ports = stopping_at_state(project.ports(), "running")
    prepared = project.prepare(ports, project.cases(rows), target=None)
    with pytest.raises(Stopped):
        asyncio.run(start_run(ports, prepared, lambda _: None, project.seen.append))
    project.cases([row("r", execution={"target": "b"})])
    other = project.ports(is_alive=dead)
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))
    folder = project.root / ".steelyard" / "runs" / after.run_id

    check_run(folder)
    assert (
        "unknown target 'b'" in json.loads((folder / "run_manifest.json").read_bytes())["unread"]
    )


@pytest.mark.parametrize("is_there", [True, False])
def test_a_run_over_recorded_responses_is_cancelled_with_or_without_them(
    project: Project, is_there: bool
) -> None:
    path = project.write("r.jsonl", json.dumps({"record_id": "r", "response_text": "yes"}))
    ports = stopping_at_state(project.ports(), "running")
    options = {"target": None, "responses": Path("r.jsonl")}
    prepared = project.prepare(ports, project.cases([row("r")]), **options)
    with pytest.raises(Stopped):
        asyncio.run(start_run(ports, prepared, lambda _: None, project.seen.append))
    if not is_there:
        path.unlink()
    other = project.ports(is_alive=dead)
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))
    folder = project.root / ".steelyard" / "runs" / after.run_id
    manifest = json.loads((folder / "run_manifest.json").read_bytes())

    check_run(folder)
    assert list(manifest["targets"]) == ["recorded"]
    assert (manifest["unread"] is None) is is_there
    assert is_there or manifest["unread"].endswith("r.jsonl: No such file or directory")


def test_one_who_dies_while_he_seals_what_is_left_leaves_it_to_the_next(
    project: Project,
) -> None:
    folder = stop(project, project.ports(StoppingTarget(after=5)))
    (project.root / "d.jsonl").unlink()
    dying = stopping_at_artifact(project.ports(), "metrics_summary.json", is_begun=True)
    with pytest.raises(Stopped):
        asyncio.run(cancel_run(dying, dying.repository.find("latest")))
    other = project.ports()
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))

    check_run(folder)
    assert after.status == "cancelled"


class Unwilling(RunStore):
    """Lets nobody take a run over."""

    def claim(self, *_: object) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Never."""
        return False


def test_a_run_that_cannot_be_taken_over_is_told(project: Project) -> None:
    stop(project, project.ports(StoppingTarget(after=5)))
    ports = project.ports(ScriptedTarget())
    store = Unwilling(cast(RunStore, ports.repository).engine)

    with pytest.raises(RequestError, match="was taken over by another process just now"):
        asyncio.run(cancel_run(replace(ports, repository=store), store.find("latest")))


@pytest.mark.parametrize("state", ["validating", "running", "finalizing"])
def test_a_run_whose_dataset_is_gone_is_sealed_from_every_state(
    project: Project, state: str
) -> None:
    dataset = project.document([{"record_id": "a", "input": {"prompt": "?"}}])
    ports = stopping_at_state(project.ports(ScriptedTarget()), state)
    project.write("rubrics/any.yaml", RUBRIC)
    with pytest.raises(Stopped):
        project.run(replace(ports, owner="gone:1:1"), dataset, rubric="any")
    (project.root / dataset).unlink()
    other = project.ports(ScriptedTarget(), is_alive=dead)
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))
    folder = project.root / ".steelyard" / "runs" / after.run_id
    kept = json.loads((folder / "input_dataset.json").read_bytes())

    check_run(folder)
    assert after.status == "cancelled"
    assert kept["source"] == {"d.json": kept["source"]["d.json"]}
    assert len(kept["records"]) == (1 if state == "finalizing" else 0)


def test_a_run_that_lost_its_target_is_sealed_in_full(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its key nor its entry in the project file is needed to ask nobody."""
    project.write("steelyard.yaml", LIVE)
    monkeypatch.setenv("LIVE_KEY", "sk-live-0123456789")
    ports = stopping_at_state(project.ports(), "running")
    prepared = project.prepare(ports, project.cases(ROWS), target="live")
    with pytest.raises(Stopped):
        asyncio.run(start_run(ports, prepared, lambda _: None, project.seen.append))
    monkeypatch.delenv("LIVE_KEY")
    project.write("steelyard.yaml", "{}")
    other = project.ports(is_alive=dead)
    after = asyncio.run(cancel_run(other, other.repository.find("latest")))
    folder = project.root / ".steelyard" / "runs" / after.run_id
    manifest = json.loads((folder / "run_manifest.json").read_bytes())

    check_run(folder)
    assert (after.status, manifest["unread"]) == ("cancelled", None)
    assert manifest["targets"]["live"]["model"] == manifest["model"] == "m-1"
    assert after.summary
    assert after.summary["cancelled_records"] == 12
