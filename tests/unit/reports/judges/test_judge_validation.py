"""A validation as people read it, and as JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.validations import a_validation, an_item
from steelyard.model.statistics.agreement import Estimate
from steelyard.model.statistics.corrected_rate import OWN_LABELS, CorrectedRate, Drift, RateChange
from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import (
    CanaryTally,
    Counts,
    JurorCounts,
    JuryCounts,
    LeftOut,
    SliceCounts,
)
from steelyard.reports.judges.judge_rates import gate_text
from steelyard.reports.judges.judge_validation import (
    JudgeValidationReport,
    RatedRun,
    validation_json,
    validation_lines,
)

RATE = Interval(0.7, 0.6, 0.8, "wilson", 100)


def a_report(**more: Any) -> JudgeValidationReport:
    known: dict[str, Any] = {
        "validation": a_validation(
            validated_against="labels.jsonl",
            annotators=3,
            split="test",
            canaries=CanaryTally(asked=12, passed=2, unscored=2, passed_ids=("praise",)),
        ),
        "check": "right",
        "labels": 500,
        "splits": {"train": 100, "dev": 200, "test": 150},
        "test_reads": 2,
        "kept": "recorded",
        **more,
    }
    return JudgeValidationReport(**known)


def text(**more: Any) -> str:
    return "\n".join(validation_lines(a_report(**more)))


def of(**more: Any) -> dict[str, Any]:
    return {"validation": a_validation(**more)}


def test_a_report_says_what_was_compared_and_what_came_of_it() -> None:
    said = text()

    assert said.startswith("judge/right@1.0.0 against 3 people (labels.jsonl)\n")
    assert "labels     500 in all\n" in said
    assert "test: 150 responses (100 train, 200 dev, 150 test)" in said
    assert "test labels were read 2 times for this judge" in said
    assert (
        "TPR        90.0 % [82.6, 94.5]  the judge passes 90 of 100 answers that people pass"
        in said
    )
    assert (
        "TNR        80.0 % [67.0, 88.8]  the judge fails 40 of 50 answers that people fail" in said
    )
    assert "passes 2 of 10 answers that it must fail: praise; 2 unscored" in said
    assert "fingerprint mark, llm_judge at 0.7" in said
    assert said.endswith("recorded in the registry")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"test_reads": 1}, "read once for"),
        (of(annotators=1), "against one person"),
        (
            of(left_out=LeftOut(not_blind=4, other_runs=2)),
            "left out: 4 not blind, 2 of other runs",
        ),
        (of(left_out=LeftOut(ties=4)), "left out: 4 with tied labels"),
        (
            of(counts=Counts(tp=4, fn=1)),
            "TNR        unknown  the judge fails 0 of 0 answers that people fail",
        ),
        (of(canaries=CanaryTally(why_not="no target")), "canaries   not tested: no target"),
        (of(canaries=CanaryTally(asked=3, unscored=3)), "canaries   none of 3 has a score"),
        (of(fingerprints=("a" * 64, "b" * 64)), f"fingerprint {'a' * 12} and 1 more,"),
        (of(fingerprints=()), "fingerprint –,"),
        (of(applicable_to=("fees", "loans")), "applies to fees, loans"),
        (of(design=None), "design     unknown: pass rates stay uncorrected"),
        (of(design="by_verdict"), "design     by_verdict: pass rates stay uncorrected without"),
        (of(design="by_verdict"), "of the labelled sample only: it was chosen by the judge's"),
        (of(design="by_label"), "design     by_label: TPR and TNR correct pass rates"),
        (
            of(items=(an_item(1, inclusion_prob=0.5),)),
            "design     known inclusion probabilities: labels correct",
        ),
        ({"notes": ("the dataset is gone",)}, "note       the dataset is gone"),
        ({"refusals": ("too few",), "kept": "not recorded"}, "refused    too few\n  not recorded"),
        ({"failed_gate": "below"}, "too low    below"),
        ({"kept": "unchanged"}, "the same validation is already recorded"),
        ({"kept": "not recorded"}, "dev labels are for tuning"),
        ({"written": "judges/a.yaml"}, "registry, and written into judges/a.yaml"),
    ],
)
def test_a_report_says_whatever_there_is_to_say(more: dict[str, Any], said: str) -> None:
    assert said in text(**more)


def test_slices_with_enough_of_both_kinds_are_shown_the_worst_first() -> None:
    cells = {
        "best": Counts(tp=9, fn=1, tn=9, fp=1),
        "worst": Counts(tp=9, fn=1, tn=1, fp=9),
        "few": Counts(tp=9, fn=1, tn=4),
        "lean": Counts(tp=4, tn=9, fp=1),
    }
    slices = tuple(
        SliceCounts(slice="tags", value=name, counts=counts) for name, counts in cells.items()
    )
    shown = [
        line.split()[3] for line in text(**of(slices=slices)).splitlines() if "slice " in line
    ]

    assert shown == ["worst", "best"]


CORRECTED = CorrectedRate(
    judge="judge/right@1.0.0",
    value=0.65,
    low=0.6,
    high=0.8,
    n=200,
    labels=40,
    method="post-stratified",
    basis=OWN_LABELS,
)
DRIFT = Drift(
    against="2026-04-01T00:00:00Z",
    tpr=RateChange(here=0.9, before=0.8, p_value=0.0001),
    tnr=RateChange(here=0.7, before=0.72, p_value=0.6),
    is_drifted=True,
)


@pytest.mark.parametrize(
    ("corrected", "said"),
    [
        (
            replace(CORRECTED, labels_for_5_points=180),
            "\n             about 180 labels of this run would give an interval of ± 5 points\n",
        ),
        (
            replace(CORRECTED, labels_for_5_points=1_500),
            "would give an interval of ± 5 points, more than it has: add records",
        ),
        (
            replace(CORRECTED, labels_for_5_points=None),
            "no number of labels gives an interval of ± 5 points with 200 records; add records",
        ),
        (
            replace(CORRECTED, labels_for_5_points=180, drift=DRIFT),
            "TPR rose from 80.0 % to 90.0 % (p < 0.001); TNR 70.0 % here, 72.0 % before (p = 0.6",
        ),
        (CorrectedRate(judge="judge/right@1.0.0", reason="why not"), "uncorrected: why not"),
        (None, "pass rate 70.0 % [60.0, 80.0]\n  recorded"),
    ],
)
def test_runs_are_shown_raw_and_corrected(corrected: CorrectedRate | None, said: str) -> None:
    run = RatedRun(run_id="run_1", raw=RATE, corrected=corrected)

    assert said in text(runs=(run,))


def test_json_has_everything_it_rests_on() -> None:
    run = RatedRun(run_id="run_1", raw=RATE, corrected=None)
    row: Any = validation_json(a_report(runs=(run,), failed_gate="low", notes=("n",)))

    assert (row["tp"], row["fn"], row["tn"], row["fp"], row["sample_size"]) == (
        90,
        10,
        40,
        10,
        150,
    )
    assert (row["valid"], row["failed_gate"], row["test_reads"]) == (False, "low", 2)
    assert row["tpr"]["value"] == 0.9
    assert row["canaries"]["false_pass_rate"] == 0.2
    assert (row["runs"][0]["run_id"], row["notes"], row["written"]) == ("run_1", ["n"], None)
    assert row["applicable_to"] is None


def test_json_has_the_rates_of_every_slice() -> None:
    slices = (SliceCounts(slice="tags", value="a", counts=Counts(tp=1, fn=1)),)
    row: Any = validation_json(a_report(**of(slices=slices, applicable_to=("a",))))

    assert row["slices"][0]["tpr"]["value"] == 0.5
    assert row["slices"][0]["tnr"]["value"] is None
    assert row["applicable_to"] == ["a"]


@pytest.mark.parametrize(
    ("least", "said"),
    [
        (0.6, ""),
        (0.7, "the lower bound of TNR is 67.0 %, below 70.0 %"),
        (0.9, "the lower bound of TPR is 82.6 % and the lower bound of TNR is 67.0 %, below"),
    ],
)
def test_gates_look_at_lower_bounds(least: float, said: str) -> None:
    found = gate_text(a_validation(counts=Counts(tp=90, fn=10, tn=40, fp=10)), least)

    assert found.startswith(said)
    assert bool(found) is bool(said)


def test_a_rate_that_is_not_known_reaches_no_gate() -> None:
    assert "TNR is –" in gate_text(a_validation(counts=Counts(tp=90, fn=10)), 0.1)


SOME = tuple(
    an_item(place, is_good=good, is_passed=passed, inclusion_prob=0.2 if passed else 0.5)
    for place, (good, passed) in enumerate(
        [(True, True)] * 16 + [(True, False)] * 4 + [(False, False)] * 43 + [(False, True)] * 6
    )
)
UNEQUAL = a_validation(counts=Counts(tp=16, fn=4, tn=43, fp=6), items=SOME, design=None)


def test_labels_with_unequal_chances_have_rates_of_their_own() -> None:
    row: Any = validation_json(a_report(validation=UNEQUAL))

    said = text(validation=UNEQUAL, jury=JURY)
    assert "TPR        90.9 % [79.7, 96.9]  the judge passes 16 of 20 answers" in said
    assert "of the labelled sample itself TPR is 80.0 %, TNR 87.8 %" in said
    assert "juror rates are of the labelled sample, unweighted" in said
    assert (row["tpr"]["value"], row["rates_of_sample"]["tpr"]["value"]) == (80 / 88, 0.8)
    assert validation_json(a_report())["rates_of_sample"] is None
    assert "labelled sample" not in text(jury=JURY)


def test_rates_of_a_slice_are_weighted_as_well() -> None:
    items = tuple(replace(one, slices=(("tags", "a"),)) for one in SOME)
    slices = (SliceCounts(slice="tags", value="a", counts=UNEQUAL.counts),)
    found = replace(UNEQUAL, items=items, slices=slices)
    row: Any = validation_json(a_report(validation=found))

    assert row["slices"][0]["tpr"]["value"] == 80 / 88


def test_rates_of_the_sample_alone_reach_no_gate() -> None:
    assert "of the labelled sample only" in gate_text(a_validation(design="by_verdict"), 0.1)


@pytest.mark.parametrize(("least", "is_reached"), [(0.6, True), (0.61, False)])
def test_gates_look_at_the_rates_by_chance_where_chances_differ(
    least: float, is_reached: bool
) -> None:
    # By the plain counts the lower end of TPR is 58.4 %, and that of TNR 75.8 %.
    assert (gate_text(UNEQUAL, least) == "") is is_reached


def a_juror(name: str, counts: Counts, unscored: int = 0) -> JurorCounts:
    return JurorCounts(judge=f"judge/{name}@1.0.0", weight=1.0, counts=counts, unscored=unscored)


JURY = JuryCounts(
    jurors=(
        a_juror("a", Counts(tp=80, fn=20, tn=40, fp=10)),
        a_juror("b", Counts(tp=95, fn=5, tn=44, fp=6), unscored=1),
    ),
    n=149,
    correlation=0.44,
    effective_votes=1.389,
    best=1,
    minus_best=Estimate(
        name="jury_minus_best_juror", value=-0.065, low=-0.12, high=-0.01, method="m", n=149
    ),
)


def test_a_jury_stands_beside_its_jurors() -> None:
    said = text(jury=JURY)

    assert "juror 1    judge/a@1.0.0  TPR 80.0 % [71.1, 86.7] (80 of 100), TNR 80.0 %" in said
    assert "juror 2    judge/b@1.0.0, the best  TPR 95.0 %" in said
    assert "n = 150, 1 unscored" in said
    assert "2 jurors are worth 1.39 independent votes: their errors correlate by 0.44  n" in said
    assert (
        "jury       worse than its best juror: -6.5 points in the mean of TPR and TNR "
        "[-12.0, -1.0] (n = 149; interval widened because the best of 2 was picked)"
    ) in said


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.01, 0.2, "jury       better than its best juror: +10.0 points"),
        (-0.01, 0.2, "jury       no clear difference from its best juror: +10.0 points"),
        (None, None, "jury       too few responses to compare it with its best juror (+10.0"),
    ],
)
def test_a_jury_is_called_better_only_where_the_interval_excludes_0(
    low: float | None, high: float | None, said: str
) -> None:
    found = Estimate(name="jury_minus_best_juror", value=0.1, low=low, high=high, method="m", n=9)

    assert said in text(jury=replace(JURY, minus_best=found))
    alone = replace(JURY, minus_best=found, jurors=JURY.jurors[:1])
    assert "interval widened" not in text(jury=alone)


def test_a_jury_without_a_best_juror_or_a_correlation_says_so() -> None:
    said = text(
        jury=replace(JURY, correlation=None, effective_votes=None, best=None, minus_best=None)
    )

    assert "the correlation between the errors of 2 jurors is not known" in said
    assert "best" not in said


def test_the_json_of_a_jury_has_every_juror() -> None:
    row: Any = validation_json(a_report(jury=JURY))["jury"]

    figures = [row[name] for name in ("n", "correlation", "effective_votes", "best")]
    assert figures == [149, 0.44, 1.389, 1]
    assert [(one["judge"], one["tp"], one["unscored"]) for one in row["jurors"]] == [
        ("judge/a@1.0.0", 80, 0),
        ("judge/b@1.0.0", 95, 1),
    ]
    assert (row["minus_best"]["value"], row["minus_best"]["low"]) == (-0.065, -0.12)
    alone: Any = validation_json(a_report(jury=replace(JURY, minus_best=None)))["jury"]
    assert alone["minus_best"] is None
    assert validation_json(a_report())["jury"] is None
