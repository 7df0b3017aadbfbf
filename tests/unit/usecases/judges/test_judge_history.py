"""What a judge has passed and left unscored from run to run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from msgspec import structs

from fakes.metrics import metrics
from steelyard.model.run import VALIDATION
from steelyard.model.statistics.interval import Interval
from steelyard.reports.findings import plain
from steelyard.reports.judges.judge_history import history_lines
from steelyard.results.metrics import CheckMetrics
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.judges.judge_history import judge_history
from steelyard.usecases.runs.ports import RunPorts


@dataclass
class Used:
    """A judge that was asked."""

    fingerprint: str


@dataclass
class Runs:
    """Finished runs, the newest first, and who graded them."""

    runs: list[StoredRun]
    others: set[str] = field(default_factory=set[str])

    def list(self, limit: int) -> list[StoredRun]:
        return self.runs[:limit]

    def used(self, run_id: str) -> list[Used]:
        return [Used("other" if run_id in self.others else "mark")]


@dataclass
class Ports:
    """The two ports that a history needs."""

    repository: Runs
    judgements: Runs


def a_run(name: str, rate: float | None, n: int, unscored: int = 0, **more: Any) -> StoredRun:
    check = CheckMetrics(
        kind="llm_judge",
        pass_rate=Interval(rate, None, None, "wilson", n),
        mean_score=rate,
        skipped=0,
        unscored=unscored,
    )
    known: dict[str, Any] = {
        "run_id": name,
        "status": "completed",
        "created_at": "2026-05-01",
        "dataset": "d",
        "plan": None,
        "summary": structs.replace(metrics(), checks={"right": check}).json(),
        **more,
    }
    return StoredRun(**known)


def history(*runs: StoredRun, others: set[str] | None = None) -> list[Any]:
    """The rows of some runs, given the oldest first."""
    held = Runs(list(reversed(runs)), others or set())
    return cast("list[Any]", judge_history(cast(RunPorts, Ports(held, held)), ["mark"], "right"))


def test_a_run_that_differs_from_all_earlier_ones_is_marked() -> None:
    rows = history(a_run("r1", 0.7, 400), a_run("r2", 0.72, 400), a_run("r3", 0.9, 400))

    assert [(row["run_id"], row["pass_share"]) for row in rows] == [
        ("r1", 0.7),
        ("r2", 0.72),
        ("r3", 0.9),
    ]
    assert [row["unlike_earlier"] for row in rows] == [[], [], ["passed"]]
    assert [(row["passed"], row["scored"], row["n"]) for row in rows] == [
        (280, 400, 400),
        (288, 400, 400),
        (360, 400, 400),
    ]
    assert rows[0]["earlier"] is None
    assert (rows[2]["earlier"]["passed"], rows[2]["earlier"]["scored"]) == (568, 800)


def test_more_unscored_responses_are_marked_as_well() -> None:
    rows = history(a_run("r1", 0.7, 400), a_run("r2", 0.7, 360, unscored=40))

    assert rows[1]["unlike_earlier"] == ["unscored"]
    assert (rows[1]["n"], rows[1]["unscored_share"]) == (400, 0.1)


def test_unscored_repeats_are_a_share_of_all_responses() -> None:
    """A hundred records three times; ten tries have no score, and every record has one."""
    made = a_run("r1", 0.7, 100, unscored=10)
    summary = {**(made.summary or {}), "rows": 300, "total_records": 100}
    (row,) = history(replace(made, summary=summary))

    assert (row["unscored"], row["n"]) == (10, 300)
    assert (row["passed"], row["scored"]) == (70, 100)


def test_passes_of_records_whose_repeats_disagree_are_not_rounded() -> None:
    """Twelve records three times, of which 28 of 36 tries pass: 9.33 of 12 records."""
    rows = history(a_run("r1", 28 / 36, 12), a_run("r2", 28 / 36, 12))

    assert rows[0]["passed"] == pytest.approx(28 / 3)
    assert rows[0]["scored"] == 12
    assert rows[0]["pass_share"] == pytest.approx(28 / 36)
    assert rows[1]["earlier"]["passed"] == pytest.approx(28 / 3)
    said = "\n".join(history_lines(rows, plain))
    assert "77.8 % passed (9.33 of 12 scored records)" in said


def test_only_finished_runs_that_the_same_judge_graded_count() -> None:
    rows = history(
        a_run("unfinished", 0.7, 400, summary=None),
        a_run("helper", 0.7, 400, group_id=f"{VALIDATION}1"),
        a_run("elsewhere", 0.7, 400, summary=metrics().json()),
        a_run("other", 0.1, 400),
        a_run("nothing", None, 0),
        a_run("r1", 0.7, 400),
        others={"other"},
    )

    assert [row["run_id"] for row in rows] == ["nothing", "r1"]
    assert (rows[0]["pass_share"], rows[0]["unscored_share"]) == (None, None)
    assert rows[1]["unlike_earlier"] == []
