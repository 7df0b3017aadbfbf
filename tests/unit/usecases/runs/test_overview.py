"""What needs attention in a project, and what to do next."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from fakes.metrics import metrics
from fakes.plans import plan
from fakes.runs import stored_run
from steelyard.model.run import RunState
from steelyard.model.statistics.corrected_rate import CorrectedRate, Drift, RateChange
from steelyard.results.stored_run import StoredRun
from steelyard.settings import SuiteSettings
from steelyard.usecases.runs.overview import (
    Concern,
    MeasuredRun,
    concerns_of,
    measured_run,
    next_steps,
)
from steelyard.usecases.runs.ownership import Standing, standing_of

NOW = datetime(2026, 1, 15, 13, tzinfo=UTC)
JUDGE = "judge/right@1.0.0"
NEVER = CorrectedRate(judge=JUDGE, reason=f"{JUDGE} has never been validated")
FELL = RateChange(here=0.5, before=0.9, n_here=80, n_before=90, p_value=0.00001)
SAME = RateChange(here=0.9, before=0.9, n_here=80, n_before=90, p_value=1.0)
DRIFTED = CorrectedRate(
    judge=JUDGE,
    value=0.5,
    drift=Drift(against="2026-01-01", tpr=FELL, tnr=SAME, is_drifted=True, direction="stricter"),
)


def ended(
    name: str,
    *passes: bool | None,
    status: RunState = "completed",
    corrected: CorrectedRate | None = None,
    options: dict[str, Any] | None = None,
    **more: Any,
) -> MeasuredRun:
    run = replace(
        stored_run(name, status=status, created_at=f"2026-01-15T12:00:0{name}+00:00"),
        target="live",
        plan=plan(options=options or {}),
        **more,
    )
    return MeasuredRun(run, metrics(passes) if passes else None, corrected)


def stopped(run: StoredRun) -> Standing:
    """Nobody works on it, and posted datasets are gone."""
    return standing_of(run, lambda _: False, lambda _: False, lambda _: False)


def alive(run: StoredRun) -> Standing:
    """Its process works on it."""
    return standing_of(run, lambda _: True, lambda _: True, lambda _: False)


def concerns(*newest: MeasuredRun) -> list[Concern]:
    return concerns_of(newest, stopped, NOW)


@pytest.mark.parametrize(
    ("run", "kind", "said"),
    [
        (ended("1", status="failed"), "failed", "d × live failed"),
        (
            ended("1", True, False, options={"gates": {"fail_under": 0.9}}),
            "gate",
            "d × live missed its gate fail-under",
        ),
        (ended("1", True, None), "missing", "d × live has 1 record without a score, of 2"),
        (
            ended("1", True, None, status="cancelled"),
            "missing",
            "d × live was cancelled with 1 record without a score, of 2",
        ),
        (ended("1", True, corrected=NEVER), "uncorrected", "The pass rate of d × live"),
        (ended("1", True, corrected=DRIFTED), "drifted", f"{JUDGE} has drifted on d × live"),
        (ended("1", status="running"), "stopped", "d × live was stopped and can be resumed"),
        (
            ended("1", status="running", options={"dataset": f"upload/upl_{'0' * 26}.json"}),
            "unresumable",
            "d × live was stopped and cannot be resumed",
        ),
        (
            ended("1", status="queued", fence=0, is_queued=True),
            "waiting",
            "d × live waits for a worker",
        ),
    ],
)
def test_each_trouble_of_a_run_is_named(run: MeasuredRun, kind: str, said: str) -> None:
    (found,) = concerns(run)

    assert (found.kind, found.run) == (kind, run.run)
    assert found.what.startswith(said)
    assert found.why.endswith(".")


def test_runs_without_trouble_and_superseded_ones_need_no_attention() -> None:
    assert concerns(ended("1", True, False)) == []
    assert concerns(ended("2", True), ended("1", True, None)) == []


def test_another_rubric_or_target_supersedes_nothing() -> None:
    other = ended("2", True, options={"rubric": "rubric/a@1"})

    assert [one.kind for one in concerns(other, ended("1", None, True))] == ["missing"]


def test_a_run_at_work_and_one_that_just_began_to_wait_need_no_attention() -> None:
    at_work = ended("1", status="running", owner="me")
    waits = ended("2", status="queued", fence=0, is_queued=True)
    now = datetime(2026, 1, 15, 12, 0, 10, tzinfo=UTC)

    assert concerns_of([at_work, waits], alive, now) == []


def test_the_gravest_come_first_and_a_judge_is_named_once() -> None:
    found = concerns(
        ended("3", True, corrected=NEVER),
        ended("2", True, corrected=NEVER, options={"rubric": "rubric/a@1"}),
        ended("1", status="failed", options={"rubric": "rubric/b@1"}),
    )

    assert [one.kind for one in found] == ["failed", "uncorrected"]
    assert (found[1].judges, found[1].is_of_jury) == ((JUDGE,), False)
    assert found[1].why == f"{JUDGE} has never been validated."


def test_judges_of_a_jury_are_listed_once_and_known_as_jurors() -> None:
    other = "judge/polite@1.0.0"
    jury = replace(NEVER, judge=f"{JUDGE}, {other}, {JUDGE}")
    alike = replace(NEVER, judge=f"{JUDGE}, {JUDGE}", reason="the same judge twice")
    named = [
        *concerns(ended("1", True, corrected=jury)),
        *concerns(ended("1", True, corrected=alike)),
    ]
    steps = next_steps([ended("1", True, corrected=jury)], [])

    assert [(one.judges, one.is_of_jury) for one in named] == [
        ((JUDGE, other), True),
        ((JUDGE,), True),
    ]
    assert steps[0].name == f"{JUDGE}, {other}"


def test_a_run_that_has_answered_nothing_is_not_offered_for_a_comparison() -> None:
    steps = next_steps([ended("3", None), ended("2", True), ended("1", True)], [])

    compared = next(step for step in steps if step.kind == "compare")
    assert [run.run_id for run in compared.runs] == ["run_1", "run_2"]


def test_next_steps_follow_from_what_is_there() -> None:
    suite = SuiteSettings(dataset="d.json", target="live")
    idle = SuiteSettings(dataset="other.json", target="live")
    newest = [ended("2", True, corrected=NEVER), ended("1", True)]

    steps = next_steps(newest, [("used", suite), ("idle", idle)])

    assert [step.kind for step in steps] == ["label", "compare", "run_suite"]
    assert steps[0].name == JUDGE
    assert [run.run_id for run in steps[1].runs] == ["run_1", "run_2"]
    assert steps[2].name == "idle"
    assert [step.kind for step in next_steps([ended("1", True)], [])] == ["suite"]


def test_a_rated_run_has_the_numbers_of_its_summary() -> None:
    run = replace(stored_run(), summary=metrics([True, False]).json())

    listed = measured_run(run, lambda _, found: NEVER if found.rows else None)

    assert listed.metrics
    assert listed.metrics.pass_rate.value == 0.5
    assert listed.corrected == NEVER
    assert listed.title == "d × several targets"
    assert measured_run(stored_run(), lambda _run, _metrics: None) == MeasuredRun(
        stored_run(), None, None
    )
