"""Artifacts that are written while results still come in, in whatever order they do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from checker import check_run
from fakes.projects import Project, json_of, row, rows_of
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget
from steelyard.errors import RunError
from steelyard.execution import early_sealing
from steelyard.execution.early_sealing import EarlySealing, may_seal_early
from steelyard.execution.evaluating import OnResult, evaluate_records
from steelyard.execution.prepared import Prepared
from steelyard.model.run import Result, RunState
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.store.runs.repository import RunStore
from steelyard.usecases.runs import execute
from steelyard.usecases.runs.ports import RunPorts

ROWS = [row(f"c{number}", tags=[f"t{number % 3}"]) for number in range(40)]
TIMED = {"first_attempt_at", "last_attempt_at", "latency_ms", "trace", "at"}


class Hesitant(ScriptedTarget):
    """Answers late, and in another order than it was asked; the last call waits for an event."""

    def __init__(self, calls: int, event: Callable[[], object]) -> None:
        super().__init__(otherwise="no")
        self._chance = Random(3)
        self._left = calls
        self._event = event

    async def ask(self, request: Request) -> Trace:
        """An answer, sooner or later."""
        self._left -= 1
        while not self._left and not self._event():
            await asyncio.sleep(0.001)
        await asyncio.sleep(self._chance.uniform(0, 0.01))
        return await super().ask(request)


async def evaluate_early(
    ports: RunPorts, run_id: str, prepared: Prepared, on_result: OnResult, status: RunState
) -> EarlySealing:
    """The records in this process, their artifacts begun meanwhile."""
    early = EarlySealing(ports, run_id, prepared)

    def note(result: Result) -> None:
        early.note([(result.index, result.repeat)])
        on_result(result)

    try:
        await evaluate_records(ports, run_id, prepared, note, status)
    except BaseException:
        early.give_up()
        raise
    return early


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int | None]]:
    """Every run is sealed early, in small steps; these are the steps."""
    asked: list[tuple[int, int | None]] = []
    whole: Callable[..., Any] = RunStore.results

    def results(self: RunStore, run_id: str, begin: int = 0, end: int | None = None) -> Any:
        asked.append((begin, end))
        return whole(self, run_id, begin, end)

    monkeypatch.setattr(RunStore, "results", results)
    monkeypatch.setattr(early_sealing, "STEP", 4)
    monkeypatch.setattr(execute, "_evaluate", evaluate_early)
    return asked


def untimed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in row if name not in TIMED} for row in rows]


def slices_of(done: execute.FinishedRun) -> list[tuple[Any, ...]]:
    names = ("slice", "value", "total_records", "fail_count", "pass_rate")
    slices = json_of(done, "metrics_by_slice.json")["slices"]
    return [tuple(one[name] for name in names) for one in slices]


@pytest.mark.parametrize("repeat", [1, 3])
@pytest.mark.parametrize("limit", [None, 17])
def test_the_artifacts_are_those_of_a_run_that_is_sealed_at_its_end(
    project: Project, queries: list[tuple[int, int | None]], repeat: int, limit: int | None
) -> None:
    dataset = project.cases(ROWS)
    options = {"repeat": repeat, "limit": limit, "max_concurrency": 12}
    calls = (limit or len(ROWS)) * repeat
    early = project.run(project.ports(Hesitant(calls, lambda: queries)), dataset, **options)
    steps = list(queries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "_evaluate", execute.evaluate_records)
        late = project.run(project.ports(Hesitant(calls, lambda: True)), dataset, **options)

    check_run(Path(early.folder))
    for name in ("predictions", "record_validation", "failures", "attempt_logs"):
        pairs = [untimed(rows_of(one, f"{name}.jsonl")) for one in (early, late)]
        assert pairs[0] == pairs[1], name
    assert json_of(early, "input_dataset.json") == json_of(late, "input_dataset.json")
    assert slices_of(early) == slices_of(late)
    assert len(steps) > 1
    assert [begin for begin, _ in steps[1:]] == [end for _, end in steps[:-1]]


def test_a_run_that_was_stopped_goes_on_where_it_was(
    project: Project, queries: list[tuple[int, int | None]]
) -> None:
    dataset = project.cases(ROWS)
    with pytest.raises(Stopped):
        project.run(project.ports(StoppingTarget(after=20)), dataset, max_concurrency=4)
    queries.clear()
    done = project.resume(project.ports(ScriptedTarget()))

    check_run(Path(done.folder))
    assert len(rows_of(done)) == len(ROWS)
    assert queries[0] == (0, queries[1][0])
    assert (queries[0][1] or 0) >= 4


def test_what_cannot_be_written_ends_the_run_and_can_be_made_up_for(
    project: Project, queries: list[tuple[int, int | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = early_sealing.metrics_of

    def full(_facts: object) -> Any:
        raise RunError("cannot write predictions.jsonl: No space left on device")

    monkeypatch.setattr(early_sealing, "metrics_of", full)
    with pytest.raises(RunError, match="No space left"):
        project.run(project.ports(ScriptedTarget()), project.cases(ROWS))
    monkeypatch.setattr(early_sealing, "metrics_of", whole)
    done = project.resume(project.ports(ScriptedTarget()))

    check_run(Path(done.folder))
    assert queries
    assert not list(Path(done.folder).glob(".*"))


def test_records_that_are_not_all_sound_or_not_all_selected_wait_for_the_end(
    project: Project,
) -> None:
    ports = project.ports(ScriptedTarget())
    sound = project.cases(ROWS)
    broken = project.cases([*ROWS, {"id": "bad"}], "broken.jsonl")

    assert may_seal_early(project.prepare(ports, sound))
    assert may_seal_early(project.prepare(ports, sound, limit=3))
    assert not may_seal_early(project.prepare(ports, sound, where="tags ~ t1"))
    assert not may_seal_early(project.prepare(ports, broken))
