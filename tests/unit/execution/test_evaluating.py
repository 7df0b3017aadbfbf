"""A run ends before its last record when its money or its time is over; no target waits."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from checker import Trial, check_run, stored_predictions
from fakes.metrics import measured
from fakes.projects import Project, json_of, row, rows_of, spec
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget, fails
from steelyard.execution.evaluating import Done
from steelyard.execution.ports import TargetSpec
from steelyard.store.clock import SystemClock
from steelyard.usecases.runs.execute import FinishedRun

ROWS = [row(f"r{number}", input=f"Is {number} a number?") for number in range(20)]
PRICE = (0.0, 200_000.0)
"""A dollar an answer, which has five tokens."""


def dear(target: ScriptedTarget, at_once: int = 1) -> TargetSpec:
    return spec(target, price=PRICE, max_concurrency=at_once)


def reasons(run: FinishedRun) -> set[str]:
    return {entry["reason"] for entry in rows_of(run) if entry["status"] == "cancelled"}


@pytest.mark.parametrize(("at_once", "most"), [(1, 5), (4, 8)])
def test_a_run_ends_when_its_money_is_used_up(
    project: Project, at_once: int, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    project.write("steelyard.yaml", "limits: {budget_usd: 5}")
    target = ScriptedTarget()
    run = project.run(project.ports(dear(target, at_once)), project.cases(ROWS))
    evaluated = measured(run).evaluated_records

    check_run(Path(run.folder))
    assert run.status == json_of(run)["status"] == "completed_with_failures"
    assert len(target.calls) == evaluated
    assert 1 <= len(target.calls) <= most
    assert measured(run).cancelled_records == 20 - len(target.calls)
    (reason,) = reasons(run)
    assert reason.startswith("the budget of $5 (limits.budget_usd) was used up: $")
    assert [record.getMessage() for record in caplog.records] == [
        f"{reason}; the records that are left are kept as cancelled"
    ]


def test_a_repeat_that_a_budget_leaves_over_is_a_failure_of_the_run(project: Project) -> None:
    target = ScriptedTarget()
    run = project.run(
        project.ports(dear(target)), project.cases(ROWS[:2]), repeat=2, budget_usd=3.0
    )

    check_run(Path(run.folder))
    assert [entry["status"] for entry in rows_of(run)] == [*["evaluated"] * 3, "cancelled"]
    assert (measured(run).evaluated_records, measured(run).cancelled_records) == (2, 0)
    assert run.status == "completed_with_failures"


def test_the_option_wins_over_the_project_file(project: Project) -> None:
    project.write("steelyard.yaml", "limits: {budget_usd: 5}")
    target = ScriptedTarget()
    run = project.run(project.ports(dear(target)), project.cases(ROWS), budget_usd=100.0)

    assert run.status == "completed"
    assert len(target.calls) == 20


def test_a_budget_of_nothing_asks_nothing(project: Project) -> None:
    target = ScriptedTarget()
    run = project.run(project.ports(dear(target)), project.cases(ROWS), budget_usd=0.0)

    check_run(Path(run.folder))
    assert target.calls == []
    assert run.status == "completed_with_failures"


def test_a_target_without_a_price_costs_nothing_and_is_told(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    free, dataset = project.ports(spec(ScriptedTarget())), project.cases(ROWS)
    run = project.run(free, dataset, budget_usd=0.001)
    told = [record.getMessage() for record in caplog.records]
    caplog.clear()
    project.run(free, dataset)
    project.run(project.ports(dear(ScriptedTarget())), dataset, budget_usd=100.0)

    assert run.status == "completed"
    assert told == ["targets.scripted has no price, so that the budget does not count its calls"]
    assert caplog.records == []


def test_what_was_spent_before_a_stop_counts_after_it(project: Project) -> None:
    first = dear(StoppingTarget(after=4))
    with pytest.raises(Stopped):
        project.run(project.ports(first), project.cases(ROWS), budget_usd=10.0)
    target = ScriptedTarget()
    run = project.resume(project.ports(dear(target)))
    costs = [entry["cost_usd"] for entry in rows_of(run) if entry["cost_usd"] is not None]

    check_run(Path(run.folder))
    assert 4 <= len(target.calls) <= 6
    assert sum(costs) == len(costs) == measured(run).evaluated_records == 10
    assert run.status == "completed_with_failures"


def test_money_is_shared_by_all_targets(project: Project) -> None:
    rows = [row(f"r{n}", execution={"target": "a" if n % 2 else "b"}) for n in range(20)]
    a, b = ScriptedTarget(name="a"), ScriptedTarget(name="b")
    ports = project.ports(dear(a), dear(b))
    run = project.run(ports, project.cases(rows), target=None, budget_usd=6.0)

    check_run(Path(run.folder))
    assert 5 <= len(a.calls) + len(b.calls) <= 7
    assert measured(run).cancelled_records == 20 - len(a.calls) - len(b.calls)


class Slow(ScriptedTarget):
    """Takes a moment."""

    async def ask(self, request: Any) -> Any:
        await asyncio.sleep(0.05)
        return await super().ask(request)


def test_a_run_ends_when_its_time_is_over(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    project.write("steelyard.yaml", "limits: {deadline_s: 0.5}")
    target = Slow()
    run = project.run(project.ports(target), project.cases(ROWS), max_concurrency=1)

    check_run(Path(run.folder))
    assert run.status == "completed_with_failures"
    assert 1 <= len(target.calls) < 20
    assert len(target.calls) == measured(run).evaluated_records
    assert reasons(run) == {"the deadline of 0.5 s (limits.deadline_s) was over"}
    assert "the deadline of 0.5 s (limits.deadline_s) was over; the records" in caplog.text


def test_time_that_is_over_is_not_waited_for(project: Project) -> None:
    """Neither for a retry, nor for a server that has asked for silence, nor for the pace."""
    project.write("steelyard.yaml", "{limits: {deadline_s: 1.2}, retry: {backoff_s: [100]}}")
    rows = [row(f"r{n}", execution={"target": "abc"[n % 3]}) for n in range(18)]
    targets = [
        ScriptedTarget(name="a", otherwise=fails("timeout")),
        spec(ScriptedTarget(name="b", otherwise=fails("rate_limited", retry_after_s=0.2))),
        spec(ScriptedTarget(name="c"), requests_per_minute=1.0),
    ]
    run = project.run(project.ports(*targets), project.cases(rows), target=None)

    check_run(Path(run.folder))
    assert measured(run).cancelled_records == 17
    assert measured(run).evaluated_records == 1
    assert {entry["label"] for entry in rows_of(run, "failures.jsonl")} == {"deadline"}


@pytest.mark.parametrize(
    ("retry_after_s", "labels"),
    [(31.0, {"rate_limited"}), (301.0, {"rate_limited"}), (0.1, set[str]())],
)
def test_a_server_that_asks_for_silence_past_the_deadline_ends_the_record(
    project: Project, retry_after_s: float, labels: set[str]
) -> None:
    project.write("steelyard.yaml", "{limits: {deadline_s: 30}, retry: {backoff_s: [0]}}")
    failure = fails("rate_limited", retry_after_s=retry_after_s)
    target = ScriptedTarget({f"r{n}": [failure, "yes"] for n in range(20)})
    run = project.run(project.ports(target), project.cases(ROWS))
    failures = rows_of(run, "failures.jsonl")

    check_run(Path(run.folder))
    assert {entry["label"] for entry in failures} == labels
    assert {entry["status"] for entry in failures} == ({"evaluation_error"} if labels else set())
    assert len(target.calls) == (20 if labels else 40)


def test_no_time_at_all_asks_nothing(project: Project) -> None:
    project.write("steelyard.yaml", "limits: {deadline_s: 0}")
    target = Slow()
    run = project.run(project.ports(target), project.cases(ROWS))

    check_run(Path(run.folder))
    assert len(target.calls) <= 16
    assert measured(run).cancelled_records == 20 - len(target.calls)


def test_a_run_that_was_late_is_finished_and_its_rest_can_be_run_anew(project: Project) -> None:
    project.write("steelyard.yaml", "limits: {deadline_s: 0}")
    run = project.run(project.ports(Slow()), project.cases(ROWS))
    again = project.resume(project.ports(ScriptedTarget()))

    assert again.status == run.status == "completed_with_failures"


@pytest.mark.trials
@pytest.mark.parametrize(
    "failure", [fails("rate_limited", retry_after_s=0.3), fails("timeout")], ids=["429", "timeout"]
)
def test_a_target_that_keeps_failing_keeps_no_other_waiting(
    project: Project, failure: Exception
) -> None:
    project.write("steelyard.yaml", "retry: {max_attempts: 2, backoff_s: [0.3]}")
    rows = [row(f"r{n}", execution={"target": "bad" if n < 3 else "good"}) for n in range(20)]
    good, bad = ScriptedTarget(name="good"), ScriptedTarget(name="bad", otherwise=failure)
    run = project.run(
        project.ports(good, spec(bad, max_concurrency=1)), project.cases(rows), target=None
    )

    check_run(Path(run.folder))
    assert [result.target for result in project.seen] == ["good"] * 17 + ["bad"] * 3
    assert measured(run).evaluated_records == 17


class JumpingClock(SystemClock):
    """A wall clock that is set back an hour, and forward again, while a run goes on."""

    def __init__(self) -> None:
        self._looks = 0

    def now(self) -> datetime:
        self._looks += 1
        hour = 9 if self._looks // 7 % 2 else 10
        return datetime(2026, 1, 15, hour, self._looks % 60, tzinfo=UTC)

    def stamp(self) -> str:
        return self.now().isoformat(timespec="milliseconds")


def test_a_wall_clock_that_jumps_harms_no_run(project: Project) -> None:
    project.write("steelyard.yaml", "{limits: {deadline_s: 600}, retry: {backoff_s: [0.01]}}")
    script = {f"r{n}": [fails("timeout"), "yes"] for n in range(0, 20, 3)}
    with pytest.raises(Stopped):
        project.run(
            project.ports(StoppingTarget(after=9), clock=JumpingClock()), project.cases(ROWS)
        )
    folder = project.root / ".steelyard" / "runs" / project.ports().repository.list(1)[0].run_id
    kept = stored_predictions(folder)
    run = project.resume(project.ports(ScriptedTarget(script), clock=JumpingClock()))

    check_run(Path(run.folder), Trial(acknowledged=kept))
    assert run.status == "completed"
    latencies = [entry["latency_ms"] for entry in rows_of(run, "attempt_logs.jsonl")]
    assert len(latencies) >= 20
    assert min(latencies) >= 0


class LeapingClock(SystemClock):
    """A monotonic clock that an hour is missing from now and then: the machine was asleep."""

    def __init__(self) -> None:
        self._looks = 0

    def monotonic(self) -> float:
        self._looks += 1
        return super().monotonic() + 3600 * (self._looks // 40)


def test_a_machine_that_sleeps_for_an_hour_goes_on_where_it_was(project: Project) -> None:
    project.write("steelyard.yaml", "retry: {backoff_s: [0.01]}")
    script = {f"r{n}": [fails("rate_limited", retry_after_s=0.05), "yes"] for n in range(0, 20, 3)}
    target = spec(ScriptedTarget(script), requests_per_minute=60_000.0, max_concurrency=2)
    run = project.run(project.ports(target, clock=LeapingClock()), project.cases(ROWS))

    check_run(Path(run.folder))
    assert run.status == "completed"
    assert measured(run).retried_records == 7


def test_a_store_that_is_locked_for_a_while_is_waited_for(project: Project) -> None:
    """What a backup, a virus scanner or a restart of the store does."""
    dataset = project.cases(ROWS)

    class Locking(ScriptedTarget):
        async def ask(self, request: Any) -> Any:
            if len(self.calls) == 5:
                locked.execute("BEGIN EXCLUSIVE")
                asyncio.get_running_loop().call_later(0.4, locked.rollback)
            return await super().ask(request)

    ports = project.ports(Locking())
    path = project.root / ".steelyard" / "steelyard.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as locked:
        run = project.run(ports, dataset, max_concurrency=2)

    check_run(Path(run.folder), Trial(calls=20))
    assert run.status == "completed"


def test_what_is_done_is_known_by_index_and_repeat() -> None:
    done = Done(iter([(0, 1), (5, 0)]), 2)

    assert [place for place in range(14) if done.has(place // 2, place % 2)] == [1, 10]
