# pyright: basic, reportArgumentType=false, reportOperatorIssue=false
"""A comparison in words and as a page: the verdict first, and nothing without its pairs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.model.statistics.comparison import Comparison, Mismatch
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.reports.comparison.comparison_text import (
    comparison_json,
    comparison_lines,
    points,
    shift,
    table_lines,
    verdict_text,
)
from steelyard.reports.comparison.comparison_view import comparison_view
from steelyard.reports.numbers import p_text
from strategies.comparisons import BETTER, CORRECTED, FOUND, JUDGE, LOST, NONE, PASSES, WORSE


def text(found: Comparison) -> str:
    return "\n".join(comparison_lines(found))


def test_the_verdict_comes_first_with_pairs_and_what_was_left_out():
    said = text(FOUND)

    assert said.splitlines()[2] == "  verdict    no difference detectable between A and B"
    assert "100 records with a score in both runs; left out: 10 only in A, 1 only in B" in said
    assert (
        "A 70.0 %, B 80.0 %, B − A +10.0 points [-2.0, +21.0]  (test, p = 0.099, n = 100)" in said
    )
    assert "score      A 0.710, B 0.820, B − A +0.100 [-0.020, +0.210]" in said
    assert (
        "to detect a difference of 5 points takes about 1,300 records (80 % power; assumed: "
        "27.0 % of records pass in one run only (24.0 % of 100 seen))" in said
    )
    assert "slices     none of 1 changed by more than chance" in said
    assert "worse in B (1)\n    <b>fees</b>  1.00 → 0.25  no € sum" in said
    assert "better in B" not in said


def test_records_in_groups_are_counted_with_what_they_are_worth():
    grouped = replace(PASSES, clusters=20, n_effective=31.2)
    known = replace(FOUND.detectable, design_effect=3.2)
    said = text(replace(FOUND, passes=grouped, detectable=known))

    assert "in 20 groups that count as about 31 independent ones" in said
    assert "dependent records count 0.31 each" in said


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"passes": BETTER}, "B is better than A"),
        ({"passes": WORSE}, "B is worse than A"),
        (
            {"passes": WORSE, "not_alike": (JUDGE,)},
            "not comparable as they stand: judge differs; taken as they are, B is worse than A",
        ),
        ({"corrected": replace(CORRECTED, low=0.01)}, "B is better than A, corrected by people's"),
        (
            {"filled": WORSE, "dropped": replace(FOUND.dropped, no_score_in_b=9)},
            "A and B cannot be compared: scores are missing unevenly (9 records in B alone",
        ),
        (
            {
                "passes": BETTER,
                "filled": PASSES,
                "dropped": replace(FOUND.dropped, no_score_in_b=1),
            },
            (
                "no difference detectable between A and B; B is better on the pairs, but scores "
                "are missing unevenly (1 record in B alone); with those against B"
            ),
        ),
        (
            {"passes": WORSE, "favoured": PASSES, "filled": WORSE},
            (
                "A and B cannot be compared: scores are missing unevenly (repeats of records); "
                "with those in favour of B the difference would be +10.0 points [-2.0, +21.0]"
            ),
        ),
        (
            {"corrected": replace(CORRECTED, low=0.01), "filled": replace(PASSES, value=0.08)},
            "no difference detectable between A and B, corrected by people's labels; B is better",
        ),
        (
            {"scores": WORSE},
            "no difference detectable between A and B; the verdict is about passes",
        ),
        ({"passes": BETTER, "scores": BETTER}, "B is better than A"),
        (
            {"passes": NONE, "dropped": replace(FOUND.dropped, no_score_in_both=9)},
            "A and B cannot be compared: none of their 9 common records has a score in both runs",
        ),
        (
            {"passes": NONE},
            "A and B cannot be compared: they have no record in common; records are the same",
        ),
    ],
)
def test_every_verdict_has_its_words(change, expected):
    assert verdict_text(replace(FOUND, **change)).startswith(expected)


def test_a_corrected_verdict_leads_and_the_raw_one_is_called_what_it_is():
    found = replace(FOUND, passes=BETTER, corrected=CORRECTED)
    lines = text(found).splitlines()

    assert lines[2] == (
        "  verdict    no difference detectable between A and B, corrected by people's labels"
    )
    assert lines[3] == (
        "  corrected  A 69.3 %, B 75.0 %, B − A +5.7 points [-27.1, +38.4]  "
        "(16 labels of A, 17 of B, n = 46)"
    )
    assert lines[4].startswith("  raw        A 70.0 %, B 80.0 %, B − A +10.0 points")
    assert lines[4].endswith("; as the judge sees it: better")
    assert "to detect a corrected difference of 5 points takes about 4,100 records" in text(found)


def test_a_rate_that_is_corrected_in_one_run_alone_gives_no_verdict():
    rate = CorrectedRate(
        judge="judge/right@1.0.0", value=0.6, low=0.5, high=0.7, method="m", labels=40, n=90
    )
    found = replace(FOUND, a=replace(FOUND.a, corrected=rate))

    assert "corrected A, over the whole run: 60.0 % [50.0, 70.0]" in text(found)
    assert "it does not decide the verdict, which needs labels of both runs on their" in text(
        found
    )
    assert "between A and B, as graded, not by a judge alone (raw, not corrected)" in text(found)
    both = replace(found, b=replace(FOUND.b, corrected=replace(rate, value=None, check="kind")))
    assert "between A and B, as the judge sees it (raw, not corrected)" in text(both)
    assert "as the judge sees it" not in text(FOUND)
    assert "as graded" not in text(FOUND)


def test_a_verdict_that_other_checks_decide_too_is_not_called_the_judges():
    undecided = CorrectedRate(judge="judge/right@1.0.0", reason="other checks decide with it")
    found = replace(
        FOUND, **{side: replace(getattr(FOUND, side), corrected=undecided) for side in ("a", "b")}
    )

    assert "as graded, not by a judge alone (raw, not corrected)" in text(found)
    assert "judge sees" not in text(found)
    assert "judge sees" not in "\n".join(table_lines([found]))
    view = comparison_view(found)
    assert view.lead.startswith("As graded, not by a judge alone, ")
    assert view.differences[0].name == "Raw, as graded"


def test_programs_get_the_verdict_and_what_it_rests_on():
    row = comparison_json(replace(FOUND, passes=BETTER, corrected=CORRECTED), {"passed": True})
    empty = comparison_json(replace(FOUND, passes=NONE))

    assert (row["verdict"], row["basis"]) == ("no difference detectable", "corrected")
    assert (row["raw_verdict"], row["corrected_verdict"]) == ("better", "no difference detectable")
    assert (row["pairs"], row["gate"], row["reason"]) == (100, {"passed": True}, None)
    assert (empty["verdict"], empty["gate"]) == ("cannot be compared", None)
    assert "no record in common" in empty["reason"]


def test_a_zero_has_no_sign():
    zero = replace(PASSES, value=-0.0, low=-0.0001, high=0.0001)

    assert points(zero) == "0.0 points [0.0, 0.0]"
    assert shift(zero) == "0.000 [0.000, 0.000]"
    assert points(replace(PASSES, level=0.05 / 6)).endswith("[-2.0, +21.0] at 99.2 %")


def test_what_is_not_alike_is_named():
    found = replace(
        FOUND,
        not_alike=(
            Mismatch(what="rubric", a="rubric/x@1.0.0", b="rubric/x@2.0.0"),
            Mismatch(what="seed", a="1", b="2", is_serious=False),
        ),
    )
    said = text(found)

    assert "not alike  rubric differs: rubric/x@1.0.0 in A, rubric/x@2.0.0 in B" in said
    assert "note       seed differs: 1 in A, 2 in B" in said


def test_a_slice_that_moved_is_shown_with_its_adjusted_p_value():
    moved = replace(FOUND.slices[0], adjusted_p=0.01)
    said = text(replace(FOUND, slices=(moved,)))

    assert (
        "slice      tags = fees  +10.0 points [-2.0, +21.0]  n = 100, adjusted p = 0.010" in said
    )


def test_long_lists_end_with_a_count():
    nameless = replace(LOST, record_id=None, reason=None)
    said = text(replace(FOUND, improvements=(nameless,) * 12))

    assert "    record 3  1.00 → 0.25\n" in said
    assert "… and 2 more (--format json lists all)" in said


def test_without_pairs_there_are_no_numbers():
    empty = replace(FOUND, passes=replace(NONE, p_value=None), scores=NONE, slices=())
    bare = replace(empty, a=replace(FOUND.a, rate=None, score=None))
    said = text(bare)

    assert "B − A –  (, p –, n = 0)" in said
    assert "A –, B 0.820" in said


def test_several_runs_are_a_table_with_their_ids():
    others = (
        replace(FOUND, not_alike=(JUDGE,), corrected=CORRECTED),
        replace(FOUND, passes=NONE),
    )
    said = list(table_lines([FOUND, *others]))

    numbers = "+10.0 points [-2.0, +21.0] at 95.0 %, p = 0.099, n = 100"
    raw = f"raw (no difference detectable) {numbers}"
    left = "records with a score in both runs; left out: 10 only in A, 1 only in B"
    assert said == [
        "run_a  desk × a",
        "run_b  desk × b",
        "3 pairs; p-values are adjusted for all of them (Holm), each interval at its own level",
        f"  run_b against run_a: no difference detectable  {numbers}",
        f"    pairs: 100 {left}",
        (
            "  run_b against run_a: not comparable as they stand: judge differs; taken as "
            f"they are, no difference detectable, corrected  {raw}"
        ),
        "    corrected +5.7 points [-27.1, +38.4] at 95.0 %",
        f"    pairs: 100 {left}",
        "    not alike: judge differs: x in A, y in B",
        "  run_b against run_a: cannot be compared  –, p –, n = 0",
        "    they have no record in common; records are the same where their content is",
        f"    pairs: 0 {left}",
    ]


def test_p_values_as_far_as_they_say_something():
    assert [p_text(p) for p in (None, 0.0009, 0.001, 1.0)] == [
        "p –",
        "p < 0.001",
        "p = 0.001",
        "p = 1.000",
    ]
