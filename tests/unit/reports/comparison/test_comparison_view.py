"""A comparison in words: the verdict, what proves it, and what would settle it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steelyard.model.statistics.comparison import Mismatch
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.interval import Interval
from steelyard.reports.comparison.comparison_text import needed_lines
from steelyard.reports.comparison.comparison_view import (
    comparison_view,
    difference_sentence,
    pair_shares,
    ticks_of,
)
from steelyard.reports.comparison.settling import settling_of
from steelyard.reports.figures import Axis
from strategies.comparisons import BETTER, CORRECTED, FOUND, JUDGE, NONE, PASSES, WORSE

CHANGES: list[tuple[dict[str, Any], str, str, str]] = [
    ({}, "No difference detectable.", "", "B is 10.0 points above A, and anything from 2.0 "),
    ({"passes": BETTER}, "B is better.", "pass", "B is 10.0 points above A; 5.0 to 15.0 points"),
    ({"passes": WORSE}, "B is worse.", "fail", "B is 10.0 points below A; 5.0 to 15.0 points w"),
    (
        {"passes": BETTER, "corrected": CORRECTED},
        "No difference detectable.",
        "",
        (
            "Corrected by what people said, B is 5.7 points above A, and anything from 27.1 "
            "points worse to 38.4 points better fits the data."
        ),
    ),
    (
        {"passes": NONE},
        "A and B cannot be compared.",
        "",
        "They have no record in common; records are the same where their content is.",
    ),
    (
        {"passes": BETTER, "filled": PASSES},
        "No difference detectable.",
        "",
        "B is better on the pairs, but scores are missing unevenly",
    ),
    (
        {"passes": WORSE, "not_alike": (JUDGE,)},
        "Not comparable as they stand: judge differs.",
        "",
        "Taken as they are, B looks worse: B is 10.0 points below A; 5.0 to 15.0 points wo",
    ),
    (
        {"passes": BETTER, "not_alike": (JUDGE, replace(JUDGE, what="rubric"))},
        "Not comparable as they stand: judge and rubric differ.",
        "",
        "Taken as they are, B looks better: B is 10.0 points above A",
    ),
]


@pytest.mark.parametrize(("change", "head", "style", "lead"), CHANGES)
def test_every_verdict_is_one_sentence_with_its_proof(
    change: dict[str, Any], head: str, style: str, lead: str
) -> None:
    view = comparison_view(replace(FOUND, **change))

    assert (view.head, view.style) == (head, style)
    assert view.lead.startswith(lead)


def test_an_equal_rate_is_said_so() -> None:
    assert difference_sentence(replace(PASSES, value=0.0004)).startswith("B passes as often as A,")
    assert difference_sentence(NONE) == "there is no difference to estimate"


def test_the_corrected_difference_leads_and_the_judge_alone_stands_beside_it() -> None:
    rate = CorrectedRate(
        judge="j", value=0.7, low=0.5, high=0.9, tnr=Interval(0.25, 0.0, 0.6, "m", 8)
    )
    found = replace(FOUND, passes=BETTER, corrected=CORRECTED, b=replace(FOUND.b, corrected=rate))
    view = comparison_view(found)

    assert [(row.name, row.is_lead) for row in view.differences] == [
        ("Corrected", True),
        ("Raw, judge only", False),
    ]
    assert [row.name for row in view.rates] == ["A corrected", "B corrected", "A raw", "B raw"]
    assert view.beside == (
        (
            "The judge alone calls B better by 10.0 points (+5.0 to +15.0). It passes "
            "75.0 % [40.0, 100.0] of "
            "the answers of B that people call bad (n = 8), so its figure is raw and decides "
            "nothing here."
        ),
    )


def test_of_the_errors_of_a_judge_the_more_frequent_one_is_named() -> None:
    tpr, tnr = Interval(0.8, 0.5, 0.9, "m", 10), Interval(1.0, 0.6, 1.0, "m", 8)
    rate = CorrectedRate(judge="j", value=0.7, low=0.5, high=0.9, tpr=tpr, tnr=tnr)
    found = replace(FOUND, passes=BETTER, corrected=CORRECTED, b=replace(FOUND.b, corrected=rate))

    (beside,) = comparison_view(found).beside

    assert (
        "It fails 20.0 % [10.0, 50.0] of the answers of B that people call good (n = 10), so"
        in beside
    )


def test_what_would_settle_it_needs_more_records_for_smaller_differences() -> None:
    raw, corrected = (settling_of(one) for one in (FOUND, replace(FOUND, corrected=CORRECTED)))

    assert raw is not None
    assert corrected is not None
    assert [(row.points, row.records) for row in corrected.rows] == [
        (20.0, 260),
        (10.0, 1_100),
        (5.0, 4_100),
    ]
    assert corrected.unit == "records, 36 % read by people"
    assert [row.records for row in raw.rows] == sorted(row.records for row in raw.rows)
    assert raw.assumed.startswith("80 % power; assumed: 27.0 % of records pass in one run only")
    # the same number as the command line prints
    line = next(needed_lines(replace(FOUND, corrected=CORRECTED)))
    assert f"about {corrected.rows[-1].records:,} records" in line


@pytest.mark.parametrize("change", [{"passes": BETTER}, {"passes": BETTER, "filled": PASSES}])
def test_where_more_records_do_not_help_none_are_asked_for(change: dict[str, Any]) -> None:
    assert settling_of(replace(FOUND, **change)) is None


def test_serious_differences_between_the_runs_are_loud() -> None:
    note = Mismatch(what="seed", a="1", b="2", is_serious=False)
    view = comparison_view(replace(FOUND, not_alike=(JUDGE, note)))

    assert [(one.kind, one.text) for one in view.notes] == [
        ("bad", "Judge differs: x in A, y in B."),
        ("warn", "Seed differs: 1 in A, 2 in B."),
    ]


def test_left_out_records_are_counted_by_reason() -> None:
    gone = replace(FOUND.dropped, no_score_in_b=2, changed=1)

    assert comparison_view(replace(FOUND, dropped=gone)).left_out == (
        "9 records only in A",
        "2 records without a score in B",
        "1 record with the same id and other content",
    )


@pytest.mark.parametrize(
    ("gone", "command"),
    [
        ({"other_checks": 9}, "steelyard regrade run_a --rubric RUBRIC"),
        ({"no_score_in_both": 100}, "steelyard retry run_a; steelyard retry run_b"),
        ({"no_score_in_a": 100}, "steelyard retry run_a"),
        ({"no_score_in_b": 100}, "steelyard retry run_b"),
        ({"only_in_a": 110}, "steelyard run DATASET --target A --target B"),
    ],
)
def test_without_pairs_the_next_step_is_a_command(gone: dict[str, int], command: str) -> None:
    view = comparison_view(replace(FOUND, passes=NONE, dropped=replace(FOUND.dropped, **gone)))

    assert view.next_step is not None
    assert view.next_step[1] == command
    assert comparison_view(FOUND).next_step is None


def test_missing_scores_that_could_change_the_verdict_are_to_be_asked_again() -> None:
    gone = replace(FOUND.dropped, no_score_in_b=9)
    view = comparison_view(replace(FOUND, passes=WORSE, favoured=PASSES, dropped=gone))

    assert view.head == "Cannot be compared: missing scores could change the verdict."
    assert view.lead.startswith("Scores are missing unevenly (9 records in B alone)")
    assert view.next_step == ("Repeat the records that have no score:", "steelyard retry run_b")


def test_slices_with_few_pairs_are_folded_unless_they_moved() -> None:
    (one,) = FOUND.slices
    few = replace(one, value="few", passes=replace(PASSES, n=4))
    moved = replace(few, value="moved", adjusted_p=0.01)
    view = comparison_view(replace(FOUND, slices=(one, few, moved)))

    assert [row.value for row in view.slices] == ["moved", "fees"]
    assert [row.value for row in view.few] == ["few"]
    assert view.more_slices == 0
    assert comparison_view(replace(FOUND, slices=(one, few, moved)), 1).more_slices == 1
    assert view.slices_text == "1 of 3 slices moved by more than chance."


def test_the_axis_holds_every_interval_around_zero() -> None:
    assert comparison_view(FOUND).scale == Axis(-0.25, 0.25)
    assert comparison_view(replace(FOUND, corrected=CORRECTED)).scale == Axis(-0.5, 0.5)
    assert [label for _, label in ticks_of(Axis(-0.5, 0.5))] == ["-50", "-25", "0", "+25", "+50"]


def test_pairs_are_shown_by_outcome_and_nothing_of_which_there_is_none() -> None:
    assert [(one.kind, one.label) for one in pair_shares(1, 12, 32, 0)] == [
        ("down", "1 worse in B"),
        ("up", "12 better in B"),
        ("same", "32 pass in both"),
    ]


def test_what_settles_a_comparison_says_what_each_row_assumes() -> None:
    known = replace(FOUND.detectable, discordant=0.05) if FOUND.detectable else None
    small = settling_of(replace(FOUND, detectable=known))
    usual = settling_of(FOUND, points=(5.0,))

    assert small is not None
    assert usual is not None
    assert small.assumed.endswith("; for a larger difference, as many as it has points")
    assert "larger difference" not in usual.assumed
