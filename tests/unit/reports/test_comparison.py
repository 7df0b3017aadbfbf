# pyright: basic
"""A comparison in words and as a page: the verdict first, and nothing without its pairs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.model.comparison import (
    Comparison,
    Difference,
    Dropped,
    Mismatch,
    Moved,
    Side,
    SliceDifference,
)
from steelyard.reports.charts import difference_bar
from steelyard.reports.comparison_html import comparison_html
from steelyard.reports.comparison_text import comparison_lines, p_text, table_lines, verdict

PASSES = Difference(
    value=0.1, low=-0.02, high=0.21, method="paired bootstrap", n=100, p_value=0.099, test="test"
)
NEITHER = "neither better nor worse"
NONE = Difference(value=None, low=None, high=None, method="paired bootstrap", n=0)
LOST = Moved(index=3, record_id="<b>fees</b>", score_a=1.0, score_b=0.25, reason="no € sum")
FOUND = Comparison(
    a=Side(run_id="run_a", title="desk × a", records=110, rate=0.7, score=0.71),
    b=Side(run_id="run_b", title="desk × b", records=101, rate=0.8, score=0.82),
    mismatches=(),
    dropped=Dropped(
        only_in_a=10, only_in_b=1, no_score_in_a=0, no_score_in_b=0, no_score_in_both=0
    ),
    missing_p=1.0,
    passes=PASSES,
    scores=replace(PASSES, p_value=None),
    answer="no difference detectable",
    more_records=1_734,
    improvements=(),
    regressions=(LOST,),
    slices=(SliceDifference(slice="tags", value="fees", passes=PASSES, adjusted_p=0.2),),
)


def text(found: Comparison) -> str:
    return "\n".join(comparison_lines(found))


def test_the_verdict_stands_in_words_with_pairs_and_what_was_left_out():
    said = text(FOUND)

    assert "100 records that both have scored; left out: 10 only in A, 1 only in B" in said
    assert (
        "A 70.0 %, B 80.0 %, B − A +10.0 points [-2.0, +21.0]  (test, p = 0.099, n = 100)" in said
    )
    assert "score      A 0.710, B 0.820, B − A +0.100 [-0.020, +0.210]" in said
    assert "no difference detectable; about 1,800 more records would settle it" in said
    assert "slices     none of 1 moved by more than chance" in said
    assert "worse in B (1)\n    <b>fees</b>  1.00 → 0.25  no € sum" in said
    assert "better in B" not in said


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"answer": "better"}, "better"),
        ({"answer": "worse"}, "worse"),
        (
            {"answer": "worse", "mismatches": (Mismatch(what="judge", a="x", b="y"),)},
            "worse, if the runs can be compared",
        ),
        ({"more_records": None}, f"{NEITHER}: no difference at all in 100 pairs"),
        (
            {"more_records": 7},
            f"{NEITHER}: no difference detectable; about 7 more records would settle it",
        ),
    ],
)
def test_every_answer_has_its_words(change, expected):
    assert verdict(replace(FOUND, **change)) == expected


def test_what_is_not_alike_stands_before_the_numbers():
    found = replace(
        FOUND,
        mismatches=(
            Mismatch(what="rubric", a="rubric/x@1.0.0", b="rubric/x@2.0.0"),
            Mismatch(what="seed", a="1", b="2", is_serious=False),
        ),
        missing_p=0.0004,
        dropped=replace(FOUND.dropped, no_score_in_a=12, no_score_in_b=1),
    )
    said = text(found)

    assert "not alike  rubric differs: rubric/x@1.0.0 in A, rubric/x@2.0.0 in B" in said
    assert "note       seed differs: 1 in A, 2 in B" in said
    assert "missing unevenly: 12 in A alone, 1 in B alone (p < 0.001)" in said
    assert "✗ not alike: rubric differs" in comparison_html(found)


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
    assert "no value" in comparison_html(bare)


def test_several_runs_are_a_table():
    other = replace(FOUND, mismatches=(Mismatch(what="judge", a="x", b="y"),))

    said = "+10.0 points [-2.0, +21.0], p = 0.099, n = 100"
    line = f"desk × b against desk × a: no difference detectable  {said}"
    assert list(table_lines([FOUND, other])) == [line, f"{line}  (not alike)"]


def test_the_page_escapes_what_users_wrote_and_loads_nothing():
    page = comparison_html(replace(FOUND, regressions=(LOST,) * 201))

    assert "&lt;b&gt;fees&lt;/b&gt;" in page
    assert "default-src 'none'" in page
    assert "The first 200 are shown." in page
    assert 'aria-label="pass rate: +0.100, from -0.020 to +0.210"' in page


def test_p_values_as_far_as_they_say_something():
    assert [p_text(p) for p in (None, 0.0009, 0.001, 1.0)] == [
        "p –",
        "p < 0.001",
        "p = 0.001",
        "p = 1.000",
    ]


def test_the_bar_of_a_difference_has_zero_in_its_middle():
    assert 'x1="110.0" y1="1"' in difference_bar(0.0, -0.5, 0.5, "x")
    assert "no value" in difference_bar(None, None, None, "<x>")
