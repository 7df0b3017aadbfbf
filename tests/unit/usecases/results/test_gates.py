# pyright: basic
"""Gates on a run and on a comparison: nothing passes that has nothing to look at."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from fakes.metrics import metrics
from steelyard.errors import RequestError
from steelyard.model.statistics.corrected_rate import LABELS_OF_ANOTHER_RUN, CorrectedRate
from steelyard.model.statistics.interval import Interval
from steelyard.results.metrics import PassEstimate, Repeats
from steelyard.usecases.results.gates import (
    ComparisonGate,
    Gates,
    evaluate_gates,
    gate_comparison,
    gate_comparisons,
)
from strategies.comparisons import BETTER, CORRECTED, FOUND, NONE, PASSES, WORSE

JUDGED = CorrectedRate(judge="judge/right@1.0.0", value=0.6, low=0.5, high=0.7, n=49)
METRICS = structs.replace(
    metrics(),
    pass_rate=Interval(0.8, 0.7, 0.9, "wilson", 49),
    failed_records=1,
    skipped_records=0,
    total_records=50,
    corrected_pass_rate=JUDGED,
)
WORSE_GATE = ComparisonGate.parse("worse")


def failed(metrics, **gates):
    found = evaluate_gates(metrics, Gates(allow_failures="5%", **gates))
    return [one.reason for one in found if not one.passed]


def test_gates_look_at_the_raw_rate_unless_told_otherwise():
    assert not failed(METRICS, fail_under=0.8, fail_under_low=0.7)
    assert failed(METRICS, fail_under=0.8, fail_under_low=0.55, corrected=True) == [
        "the corrected pass rate is 0.6, below fail-under 0.8; n = 49",
        "the lower bound of the corrected pass rate is 0.5, below fail-under-low 0.55; n = 49",
    ]
    assert not failed(METRICS, fail_under=0.6, corrected=True)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (None, "no judge decides the results"),
        (CorrectedRate(judge="judge/right@1.0.0", reason="never validated"), "never validated"),
    ],
)
def test_without_a_corrected_rate_its_gate_fails(row, why):
    found = structs.replace(METRICS, corrected_pass_rate=row)

    assert failed(found, fail_under=0.1, corrected=True) == [
        f"there is no corrected pass rate for fail-under 0.1: {why}"
    ]


def test_gates_are_kept_with_a_run_and_read_again():
    gates = Gates(fail_under=0.5, corrected=True, allow_failures="3")

    assert Gates.of(gates.stored()) == gates
    assert Gates.of({}) == Gates()


@pytest.mark.parametrize(
    ("records", "repeats", "tries", "allowed", "said"),
    [
        (0, 0, 3, "0", "0 of 50 record(s)"),
        (0, 1, 3, "0", "1 of 150 repeat(s)"),
        (1, 0, 3, "0", "1 of 50 record(s)"),
        (1, 0, 3, "1", "1 of 50 record(s)"),
        (1, 1, 3, "1", "1 of 50 record(s) and 1 of 147 repeat(s) of the others"),
        (0, 3, 3, "1", "3 of 150 repeat(s)"),
        (0, 4, 3, "1", "4 of 150 repeat(s)"),
        (14, 1, 2, "29%", "14 of 50 record(s) and 1 of 72 repeat(s) of the others"),
        (14, 2, 2, "29%", "14 of 50 record(s) and 2 of 72 repeat(s) of the others"),
    ],
)
def test_a_record_that_lacks_repeats_is_missing_in_part(records, repeats, tries, allowed, said):
    rate = PassEstimate(value=None, low=None, high=None, method=None, n=0)
    several = structs.replace(
        METRICS,
        failed_records=records,
        unscored_repeats=repeats,
        repeats=Repeats(k=tries, pass_at_k=rate, pass_hat_k=rate),
    )
    (found,) = evaluate_gates(several, Gates(allow_failures=allowed))
    share = allowed.endswith("%")
    most = 50 * float(allowed[:-1]) / 100 if share else float(allowed)

    assert found.passed is (records + repeats / tries <= most + 1e-9)
    assert found.looked_at == f"{said} without a score"


@pytest.mark.parametrize(
    ("change", "passed", "said"),
    [
        ({"passes": WORSE}, False, "B is worse by the raw difference"),
        ({"passes": BETTER}, True, ""),
        ({}, True, ""),
        (
            {"corrected": replace(CORRECTED, value=-0.2, high=-0.01)},
            False,
            "B is worse by the corrected difference",
        ),
        # people see +5.7 points, and at worst -2: the judge's drop of 10 is its own error
        ({"passes": WORSE, "corrected": replace(CORRECTED, low=-0.02)}, True, ""),
        (
            {"passes": WORSE, "corrected": CORRECTED},
            False,
            "B is worse by the raw difference",
        ),
    ],
)
def test_b_is_worse_by_either_difference(change, passed, said):
    found = replace(FOUND, **{"filled": change.get("passes", PASSES), **change})
    result = gate_comparison(found, WORSE_GATE)

    assert (result.passed, result.reason) == (passed, said)
    assert "the raw difference" in result.looked_at


def test_a_drop_that_the_corrected_interval_excludes_is_said():
    found = replace(FOUND, passes=WORSE, filled=WORSE, corrected=replace(CORRECTED, low=-0.02))

    assert "the corrected interval excludes the raw drop" in (
        gate_comparison(found, WORSE_GATE).looked_at
    )


@pytest.mark.parametrize(
    ("gate", "change", "passed"),
    [
        ("worse by 2.1", {}, True),
        ("worse by 2", {}, False),
        ("worse by 0.5", {"passes": BETTER, "filled": BETTER}, True),
        ("worse by 28", {"corrected": CORRECTED}, True),
        ("worse by 27", {"corrected": CORRECTED}, False),
        ("worse by 28", {"corrected": replace(CORRECTED, value=-0.2, high=-0.01)}, True),
        ("worse by 27", {"corrected": CORRECTED, "passes": BETTER, "filled": BETTER}, False),
        ("worse by 2", {"corrected": replace(CORRECTED, low=-0.01)}, False),
        ("worse by 1", {"detectable": None}, False),
    ],
)
def test_a_margin_passes_where_the_whole_interval_lies_above_it(gate, change, passed):
    result = gate_comparison(replace(FOUND, **change), ComparisonGate.parse(gate))

    assert result.passed is passed
    assert bool(result.reason) is not passed


def test_a_failed_margin_says_how_many_records_it_takes():
    result = gate_comparison(FOUND, ComparisonGate.parse("worse  by 2"))

    assert result.reason.startswith("B may be worse by 2 points or more; if it is not, about 5,")
    assert result.name == "worse by 2"


def test_a_margin_looks_at_both_intervals_and_says_so():
    found = replace(FOUND, passes=BETTER, filled=BETTER, corrected=CORRECTED)
    result = gate_comparison(found, ComparisonGate.parse("worse by 2"))

    assert "the raw difference +10.0 points" in result.looked_at
    assert "and of the corrected difference +5.7 points [-27.1, +38.4]" in result.looked_at
    assert result.reason.startswith("by the corrected difference B may be worse by 2 points or")
    assert "records, the same share of them labelled, would show that" in result.reason


def test_among_several_runs_a_gate_looks_at_the_unadjusted_corrected_difference():
    wide = replace(CORRECTED, low=-0.9, high=0.9, level=0.01)
    found = replace(FOUND, corrected=wide, unadjusted=PASSES, unadjusted_corrected=CORRECTED)

    assert gate_comparison(found, ComparisonGate.parse("worse by 28")).passed


def test_a_gate_says_how_many_records_of_a_it_did_not_see():
    assert "; 10 records of A are not in B" in gate_comparison(FOUND, WORSE_GATE).looked_at


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("worse by 2", "B is worse by more than 2 points"),
        ("worse by 12", "B is worse, and not shown to be worse by less than 12 points"),
    ],
)
def test_a_margin_that_is_missed_for_certain_asks_for_no_more_records(gate, said):
    found = replace(FOUND, passes=WORSE, filled=WORSE)

    assert gate_comparison(found, ComparisonGate.parse(gate)).reason == said


def test_what_cannot_be_compared_never_passes():
    empty = gate_comparison(replace(FOUND, passes=NONE), WORSE_GATE)
    uneven = gate_comparison(replace(FOUND, filled=WORSE), WORSE_GATE)

    assert (empty.passed, empty.is_undecided) == (False, True)
    assert (uneven.passed, uneven.is_undecided) == (False, True)
    assert "missing unevenly" in uneven.reason


def test_a_drop_that_missing_scores_could_undo_is_neither_a_pass_nor_a_failure():
    found = replace(FOUND, passes=WORSE, filled=WORSE, favoured=PASSES)
    corrected = replace(found, corrected=replace(CORRECTED, low=-0.4, high=-0.3))

    assert gate_comparison(found, WORSE_GATE).is_undecided
    assert "in favour of B" in gate_comparison(found, WORSE_GATE).reason
    assert gate_comparison(corrected, WORSE_GATE).is_undecided
    assert gate_comparison(found, ComparisonGate.parse("worse by 2")).is_undecided


@pytest.mark.parametrize("gate", ["worse", "worse by 1", "worse by 50"])
@pytest.mark.parametrize("corrected", [None, replace(CORRECTED, value=0.1, low=0.02)])
def test_scores_missing_unevenly_leave_every_gate_undecided(gate, corrected):
    found = replace(FOUND, filled=WORSE, corrected=corrected)
    result = gate_comparison(found, ComparisonGate.parse(gate))

    assert (result.passed, result.is_undecided) == (False, True)


def test_a_gate_that_fails_anyway_fails():
    found = replace(FOUND, passes=WORSE, filled=WORSE)

    assert not gate_comparison(found, WORSE_GATE).is_undecided


def test_each_run_is_compared_with_the_first():
    second = replace(FOUND, b=replace(FOUND.b, run_id="run_c"))
    third = replace(FOUND, a=FOUND.b, b=second.b)

    found = gate_comparisons([FOUND, second, third], WORSE_GATE)
    assert [one.b.run_id for one, _ in found] == ["run_b", "run_c"]


@pytest.mark.parametrize(
    ("dropped", "n", "said"),
    [
        ({"only_in_a": 0}, 100, ""),
        ({"only_in_a": 0}, 5, "5 records are too few to show any difference"),
        ({"only_in_a": 7, "changed": 3}, 100, "4 missing, 3 edited (same id, other content)"),
        ({"only_in_a": 0, "invalid_in_b": 2}, 100, "2 invalid"),
    ],
)
def test_a_strict_gate_passes_on_all_of_a_alone(dropped, n, said):
    found = replace(
        FOUND,
        passes=replace(PASSES, n=n),
        dropped=replace(FOUND.dropped, **dropped),
        filled=PASSES,
    )
    ((_, strict),) = gate_comparisons([found], WORSE_GATE, strict=True)
    ((_, plain),) = gate_comparisons([found], WORSE_GATE)

    assert (strict.passed, strict.is_undecided) == (not said, bool(said))
    assert said in strict.reason
    assert plain.passed


@pytest.mark.parametrize("text", ["", "better", "worse by", "worse by -2", "worse by 100"])
def test_a_gate_is_worse_or_worse_by_points(text):
    with pytest.raises(RequestError, match="worse"):
        ComparisonGate.parse(text)


def test_a_gate_on_labels_of_another_run_names_the_assumption():
    row = replace(JUDGED, basis=LABELS_OF_ANOTHER_RUN)
    borrowed = structs.replace(METRICS, corrected_pass_rate=row)
    (found, _) = evaluate_gates(
        borrowed, Gates(fail_under=0.5, corrected=True, allow_failures="1")
    )

    assert found.passed
    assert "assumes the judge errs as on the labelled run" in found.looked_at
