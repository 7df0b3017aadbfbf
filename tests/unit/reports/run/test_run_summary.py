"""The head of a run: the number that can be defended first, in words, with its denominator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from steelyard.model.statistics.corrected_rate import CorrectedRate, Drift, RateChange
from steelyard.model.statistics.gate import GateResult
from steelyard.model.statistics.interval import Interval
from steelyard.reports.html.pages import environment
from steelyard.reports.run.run_summary import Notice, RunSummary, summary_of
from steelyard.reports.run.run_text import RunView
from steelyard.results.facts import Facts
from strategies.run_facts import facts
from strategies.run_views import run_view

CORRECTED = CorrectedRate(
    judge="judge/kind@1.0.0",
    value=0.75,
    low=0.5112,
    high=0.9888,
    method="PPI++",
    n=47,
    labels=16,
    validated_at="2026-11-15T21:40:00+00:00",
    tpr=Interval(23 / 24, 0.7976, 0.9926, "wilson", 24),
    tnr=Interval(0.25, 0.0715, 0.5907, "wilson", 8),
    basis="own labels",
    labelled_runs=("run_01",),
    labels_for_5_points=265,
    is_later=True,
)


def some(passed: int, failed: int, missing: int = 0) -> Iterable[Facts]:
    outcomes = [True] * passed + [False] * failed + [None] * missing
    return (facts(index, passed=outcome) for index, outcome in enumerate(outcomes))


def judged(rate: CorrectedRate, *counts: int, **changes: Any) -> RunView:
    view = run_view(some(*counts), **changes)
    metrics = structs.replace(view.metrics, corrected_pass_rate=rate)
    return replace(view, metrics=metrics)


def shown(summary: RunSummary) -> str:
    source = '{% from "parts/run.html" import run_headline %}{{ run_headline(summary) }}'
    return environment().from_string(source).render(summary=summary)


def test_a_corrected_rate_is_said_first_and_leads_the_figure() -> None:
    found = summary_of(judged(CORRECTED, 45, 2, 1), not_blind=4)

    assert found.say == (
        "About 75 of 100 answers are good. People have read 16, so anything from 51 to 99 is "
        "possible."
    )
    lead, raw, bounds = found.rates
    assert (lead.name, lead.about, lead.style) == (
        "Corrected by people",
        "PPI++, 16 of 47 answers read",
        "lead",
    )
    assert (raw.name, raw.about, raw.style) == (
        "Raw, as the judge sees it",
        "45 of 47 evaluated, Wilson",
        "",
    )
    assert bounds.name == "Raw, were the record without a score a fail or a pass"
    assert (bounds.found.low, bounds.found.high) == (45 / 48, 46 / 48)


def test_the_judge_stands_beside_people_with_counts() -> None:
    judge = summary_of(judged(CORRECTED, 45, 2, 1), not_blind=4).judge

    assert judge is not None
    assert [(rate.name, rate.is_low) for rate in judge.rates] == [
        ("Good answers it passes (TPR), 23 of 24", False),
        ("Bad answers it fails (TNR), 2 of 8", True),
    ]
    *texts, needed = judge.texts
    assert texts == [
        "It passes 6 of 8 answers that people call bad.",
        "The raw rate is 20.7 points above the corrected one.",
        "Validated 15 Nov 2026, after this run; 4 labels that were not blind are left out.",
    ]
    assert needed == (
        "About 265 labels of this run would give an interval of ± 5 points, more than it has: "
        "add records."
    )


@pytest.mark.parametrize(
    ("corrected", "said", "side"),
    [
        (0.75, "It fails 2 of 11 answers that people call good.", "12.5 points below"),
        (0.50, "It passes 1 of 4 answers that people call bad.", "12.5 points above"),
    ],
)
def test_the_error_that_is_named_moves_the_raw_rate_to_its_side(
    corrected: float, said: str, side: str
) -> None:
    tpr, tnr = Interval(9 / 11, 0.5, 0.9, "wilson", 11), Interval(0.75, 0.3, 0.9, "wilson", 4)
    rate = replace(CORRECTED, value=corrected, tpr=tpr, tnr=tnr)

    judge = summary_of(judged(rate, 5, 3)).judge

    assert judge is not None
    assert judge.texts[:2] == (said, f"The raw rate is {side} the corrected one.")


def test_both_errors_are_named_where_they_cancel_out() -> None:
    judge = summary_of(judged(replace(CORRECTED, value=0.75), 3, 1)).judge

    assert judge is not None
    assert not judge.is_differing
    assert judge.texts[0] == (
        "It passes 6 of 8 answers that people call bad and fails 1 of 24 answers that people "
        "call good."
    )


def test_a_weighted_rate_is_no_count() -> None:
    weighted = replace(CORRECTED, tnr=Interval(0.31, 0.1, 0.6, "weighted", 8))

    judge = summary_of(judged(weighted, 45, 2)).judge

    assert judge is not None
    assert judge.rates[1].name == "Bad answers it fails (TNR), n = 8"
    assert judge.texts[0].startswith("The raw rate is")


def test_labels_of_another_run_are_said_to_be_borrowed() -> None:
    borrowed = replace(CORRECTED, basis="labels of another run", labelled_runs=("run_02",))

    found = summary_of(judged(borrowed, 45, 2))

    assert "if the judge errs here as on the 16 answers of another run" in found.say
    assert found.rates[0].about == "PPI++, 16 answers of another run read"
    assert found.judge is not None
    assert "This assumes that the judge errs here as on run_02." in found.judge.texts


def test_without_labels_it_says_why_the_rate_is_not_corrected() -> None:
    never = CorrectedRate(
        judge="judge/kind@1.0.0", reason="judge/kind@1.0.0 was never validated", check="kind"
    )

    found = summary_of(judged(never, 4, 1))

    assert found.say == (
        "4 of 5 answers pass in the eyes of the judge. No labels of people correct this rate."
    )
    assert found.rates[0].name == "Raw, as the judge sees it"
    assert found.judge is not None
    assert found.judge.reason == "judge/kind@1.0.0 was never validated."
    assert found.rates[0].style == "lead"
    assert "Why the rate is not corrected" in shown(found)


def test_a_verdict_that_other_checks_decide_too_is_not_called_the_judges() -> None:
    reason = "42 of 200 results are not what judge/kind@1.0.0 says: other checks decide with it"
    undecided = CorrectedRate(judge="judge/kind@1.0.0", reason=reason)

    found = summary_of(judged(undecided, 4, 1))

    assert found.say == (
        "4 of 5 answers pass as graded, which judge/kind@1.0.0 does not decide alone. "
        "No labels of people correct this rate."
    )
    assert found.rates[0].name == "Raw, as graded"
    assert "judge sees" not in shown(found)


def test_drift_of_the_judge_is_a_warning() -> None:
    change = RateChange(here=0.4, before=0.9, p_value=0.001)
    drift = Drift(against="2026-10-01", tpr=change, tnr=change, is_drifted=True)

    judge = summary_of(judged(replace(CORRECTED, drift=drift), 45, 2)).judge

    assert judge is not None
    assert judge.warning.startswith("The judge has drifted and is less accurate")


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((0, 0, 3), "No record has a score, so there is no pass rate."),
        ((37, 10), "37 of 47 answers pass. Of answers like these, anything from 65 to 88 of 100"),
    ],
)
def test_a_rate_of_checks_is_said_in_counts(counts: tuple[int, ...], said: str) -> None:
    assert summary_of(run_view(some(*counts))).say.startswith(said)


def test_repeats_show_both_ways_to_pass() -> None:
    tries = [(0, 0, True), (0, 1, False), (1, 0, True), (1, 1, True)]
    rows = [facts(index, passed=passed, repeat=repeat) for index, repeat, passed in tries]

    found = summary_of(run_view(rows))

    assert [row.name for row in found.rates] == ["Pass rate", "pass@2", "pass^2"]
    assert found.say.startswith("About 75 of 100 answers pass")


def test_gates_and_a_selection_are_noticed() -> None:
    view = replace(
        run_view(some(1, 1), options={"limit": 2}),
        gates=(GateResult(name="pass", passed=False, looked_at="", reason="too low"),),
    )

    assert summary_of(view).notices[:2] == (
        Notice("bad", "Gate failed: too low"),
        Notice("warn", "A part of the dataset, by --limit 2."),
    )


@pytest.mark.parametrize(
    ("gates", "word"),
    [
        ((), None),
        ((GateResult(name="pass", passed=True, looked_at=""),), ("pass", "Gate passed")),
        ((GateResult(name="pass", passed=False, looked_at=""),), ("fail", "Gate failed")),
        ((GateResult(name="m", passed=False, looked_at="", is_missing_scores=True),), None),
    ],
)
def test_the_head_says_in_a_word_whether_the_gates_hold(
    gates: tuple[GateResult, ...], word: tuple[str, str] | None
) -> None:
    """Missing scores have a word of their own."""
    assert summary_of(replace(run_view(some(1, 1)), gates=gates)).gate == word


def test_a_gate_on_missing_scores_says_what_was_allowed() -> None:
    why = "1 of 48 record(s) have no score, more than allow-failures 0"
    gate = GateResult(name="allow-failures", passed=False, looked_at="", reason=why)
    view = replace(run_view(some(1, 1)), gates=(gate,))

    assert summary_of(view).notices[0].text.endswith("have no score, more than the allowed 0")


def test_the_figure_of_scores_has_a_table_behind_it() -> None:
    html = shown(summary_of(run_view(some(3, 1))))

    assert 'aria-label="Records by score: 1, 0, 0, 0, 0, 0, 0, 0, 0, 3"' in html
    assert '<th scope="row" data-values="[0.9, 1.0]">0.9 – 1.0</th><td class="num">3</td>' in html


def test_names_are_escaped() -> None:
    view = judged(replace(CORRECTED, judge="<script>alert(1)</script>"), 3, 1)

    assert "<script>" not in shown(summary_of(view))


def test_bounds_name_the_invalid_records_that_they_count() -> None:
    view = run_view([*some(3, 1), facts(4, status="invalid_record", passed=None)])
    assert view.metrics.pass_rate_bounds
    assert view.metrics.pass_rate_bounds.low == 3 / 5

    assert [row.name for row in summary_of(view).rates] == [
        "Pass rate",
        "Were the record without a score (1 invalid) a fail or a pass",
    ]
