"""The pass rate of a run, corrected by what is known of its judge."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from fakes.judged_runs import a_row, a_score, write_run
from fakes.validations import JUDGE, a_validation, an_item
from steelyard.model.statistics.corrected_rate import (
    LABELS_OF_ANOTHER_RUN,
    OWN_LABELS,
    CorrectedRate,
)
from steelyard.model.statistics.validation import Counts, JudgeValidation
from steelyard.reports.run.run_text import RunView
from steelyard.stats.correction import counted_rates, rogan_gladen
from steelyard.stats.effective import WeightShare
from steelyard.stats.post_stratification import POST_STRATIFIED
from steelyard.usecases.correction.correct_run import Correction, corrected_run
from steelyard.usecases.correction.current_view import current_view
from steelyard.usecases.correction.judged_rows import JudgedRows
from steelyard.usecases.judges.label_chances import with_chances
from steelyard.usecases.results.read_run import read_run

KNOWN = counted_rates(Counts(tp=90, fn=10, tn=40, fp=10))
NOW = datetime(2026, 6, 1, tzinfo=UTC)
BORROWED = CorrectedRate(judge=JUDGE, value=0.5, basis=LABELS_OF_ANOTHER_RUN)
OWN = CorrectedRate(judge=JUDGE, value=0.5, basis=OWN_LABELS)


def rows(count: int = 100, failed: int = 30, **more: Any) -> list[dict[str, Any]]:
    """Records of which the first ones fail."""
    return [a_row(index, index >= failed, **more) for index in range(count)]


def population(folder: Path) -> str:
    read = JudgedRows(folder)
    for _ in read:
        pass
    return read.population


def corrected(folder: Path, *validations: JudgeValidation) -> Correction:
    found = corrected_run(folder, validations, NOW)
    assert found
    written = msgspec.json.encode(found.whole)
    assert msgspec.json.decode(written, type=CorrectedRate) == found.whole
    return found


def of_own_labels(folder: Path, count: int = 20, **more: Any) -> JudgeValidation:
    """Labels of the run's own responses; the judge is wrong about every fifth."""
    items = tuple(
        an_item(5 * n, is_good=(5 * n >= 30) != (n % 5 == 4), is_passed=5 * n >= 30)
        for n in range(count)
    )
    known: dict[str, Any] = {"items": items, "populations": {"run_1": population(folder)}, **more}
    return a_validation(**known)


def test_a_run_without_judges_has_nothing_to_correct(tmp_path: Path) -> None:
    plain = rows(3, evaluator_scores=[a_score(True, judge=None)])

    assert corrected_run(write_run(tmp_path / "r", plain), [a_validation()], NOW) is None


@pytest.mark.parametrize("design", ["random", "by_label"])
def test_labels_of_other_responses_correct_by_how_often_the_judge_errs(
    tmp_path: Path, design: str
) -> None:
    folder = write_run(tmp_path / "r", rows())
    row = corrected(folder, a_validation(design=design)).whole
    expected = rogan_gladen(KNOWN, WeightShare(0.7, 100))

    assert (row.value, row.low, row.high) == (
        expected.value,
        expected.low,
        expected.high,
    )
    assert (row.method, row.labels, row.n, row.design) == (
        *("rogan-gladen", 150, 100),
        design,
    )
    assert (row.judge, row.check, row.validated_at) == (JUDGE, "right", "2026-05-01")
    assert (row.basis, row.drift) == ("labels of another run", None)


def test_labels_of_the_same_responses_correct_by_lot(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    again = write_run(tmp_path / "again", rows())
    row = corrected(again, of_own_labels(folder)).whole

    assert (row.method, row.labels, row.n) == (POST_STRATIFIED, 20, 100)
    assert (row.basis, row.labelled_runs) == ("own labels", ("run_1",))


@pytest.mark.parametrize(
    ("changed", "method"),
    [
        ({}, POST_STRATIFIED),
        ({"trace": {"messages": [{"role": "assistant", "content": "Other."}]}}, "rogan-gladen"),
        ({"record_sha256": "other"}, "rogan-gladen"),
        ({"trace": None}, "rogan-gladen"),
    ],
)
def test_one_other_response_makes_it_another_run(
    tmp_path: Path, changed: dict[str, Any], method: str
) -> None:
    labelled = of_own_labels(write_run(tmp_path / "r", rows()), 24)
    others = rows()
    others[99] |= changed

    assert corrected(write_run(tmp_path / "o", others), labelled).whole.method == method


def test_too_few_labels_of_its_own_are_of_no_use(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())

    assert corrected(folder, of_own_labels(folder, 10)).whole.method == POST_STRATIFIED
    assert "9 labels of these responses are too few; at least 10" in str(
        corrected(folder, of_own_labels(folder, 9)).whole.reason
    )


def test_the_labels_that_are_of_this_run_come_before_newer_ones(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    newer = a_validation(validated_at="2026-05-20")

    assert corrected(folder, of_own_labels(folder), newer).whole.method == POST_STRATIFIED


def test_of_two_that_hold_the_newest_counts(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    newer = a_validation(validated_at="2026-05-20", counts=Counts(tp=9, fn=1, tn=8, fp=2))
    row = corrected(folder, newer, a_validation()).whole

    assert (row.validated_at, row.labels) == ("2026-05-20", 20)


def test_chances_are_weights(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    own = of_own_labels(folder, design="by_verdict")
    weighed = replace(
        own,
        items=tuple(
            replace(one, inclusion_prob=0.5 if one.index % 2 else 0.25) for one in own.items
        ),
    )
    elsewhere = replace(
        weighed,
        populations={},
        items=tuple(replace(one, is_good=one.is_passed) for one in weighed.items),
    )
    rows_of = [corrected(folder, one).whole for one in (weighed, elsewhere)]

    assert [row.method for row in rows_of] == [
        "post-stratified by verdict with inverse-probability weights",
        "rogan-gladen with inverse-probability weights",
    ]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"design": None}, "nobody said how the labelled records were chosen"),
        ({"design": "by_verdict"}, "their inclusion probabilities are not known"),
        ({"counts": Counts(tp=5, fn=5, tn=5, fp=5)}, "no better than a coin"),
        ({"counts": Counts(tp=5, fn=5)}, "labels of bad responses are worth 0 independent ones"),
        ({"fingerprints": ("other",)}, "validated as another instrument"),
        ({"rule": "llm_judge at 0.5"}, "validated as 'llm_judge at 0.5', and decides here by"),
        ({"validated_at": "2026-03-02"}, "was validated 91 days ago"),
        ({"judge": "judge/other@1.0.0", "fingerprints": ("x",)}, "has never been validated"),
    ],
)
def test_what_cannot_be_corrected_says_why(
    tmp_path: Path, more: dict[str, Any], reason: str
) -> None:
    row = corrected(write_run(tmp_path / "r", rows()), a_validation(**more)).whole

    assert (row.value, row.low, row.high) == (None, None, None)
    assert reason in str(row.reason)


def test_a_validation_of_ninety_days_holds(tmp_path: Path) -> None:
    row = corrected(
        write_run(tmp_path / "r", rows()), a_validation(validated_at="2026-03-03T00:00:00Z")
    ).whole

    assert row.value is not None


def test_where_other_checks_decide_each_judge_has_its_own_rate(tmp_path: Path) -> None:
    made = rows()
    made[50]["passed"] = False
    found = corrected(write_run(tmp_path / "r", made), a_validation())

    assert "1 of 100 results are not what judge/right@1.0.0 says" in str(found.whole.reason)
    assert found.checks["right"].value is not None


def test_a_check_that_most_records_have_does_not_decide_all(tmp_path: Path) -> None:
    made = rows()
    made[0] |= {"evaluator_scores": [], "passed": True}

    assert corrected(write_run(tmp_path / "r", made), a_validation()).whole.value is None


def test_what_makes_a_pass_must_be_known_and_the_same(tmp_path: Path) -> None:
    old = rows(evaluator_scores=[a_score(True, details={"calls": [{"fingerprint": "mark"}]})])
    mixed = rows()
    mixed[0]["evaluator_scores"] = [a_score(False, details={"rule": "llm_judge at 0.5"})]
    reasons = [
        str(corrected(write_run(tmp_path / name, made), a_validation()).checks["right"].reason)
        for name, made in (("old", old), ("mixed", mixed))
    ]

    assert "was not kept" in reasons[0]
    assert "differs from record to record" in reasons[1]


def test_records_without_a_score_are_in_no_rate(tmp_path: Path) -> None:
    made = [*rows(), a_row(100, None), a_row(101, None)]
    row = corrected(write_run(tmp_path / "r", made), a_validation()).whole

    assert (row.n, row.value) == (
        100,
        corrected(write_run(tmp_path / "s", rows()), a_validation()).whole.value,
    )


def test_repeats_of_a_record_count_as_one(tmp_path: Path) -> None:
    made = [a_row(index, repeat == 0, repeat=repeat) for index in range(50) for repeat in (0, 1)]
    row = corrected(write_run(tmp_path / "r", made), a_validation()).whole
    expected = rogan_gladen(KNOWN, WeightShare(0.5, 50))

    assert (row.n, row.value) == (50, pytest.approx(expected.value))


@pytest.mark.parametrize("is_own", [True, False])
def test_records_of_one_conversation_widen_the_interval(tmp_path: Path, is_own: bool) -> None:
    alone = write_run(tmp_path / "r", rows())
    grouped = write_run(
        tmp_path / "g", [row | {"cluster": str(row["index"] // 10)} for row in rows()]
    )
    widths: list[float] = []
    for folder in (alone, grouped):
        known = of_own_labels(folder) if is_own else a_validation()
        row: Any = corrected(folder, known).whole
        widths.append(row.high - row.low)

    assert widths[1] > widths[0]


def test_a_record_outside_any_conversation_stands_for_itself(tmp_path: Path) -> None:
    made = rows()
    made[0]["cluster"] = "a"

    row = corrected(write_run(tmp_path / "r", made), a_validation()).whole
    plain = corrected(write_run(tmp_path / "s", rows()), a_validation()).whole
    assert (row.low, row.high) == (plain.low, plain.high)


def test_labels_balanced_by_class_of_the_run_itself_are_its_own(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    row = corrected(folder, of_own_labels(folder, design="by_label")).whole

    assert (row.method, row.basis) == ("rogan-gladen", "own labels")


def test_labels_within_each_verdict_have_rates_without_verification_bias(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    own = of_own_labels(folder, 14, design="by_verdict")
    row: Any = corrected(
        folder, replace(own, items=with_chances(own.items, {"run_1": {True: 70, False: 30}}))
    ).whole

    assert row.method == POST_STRATIFIED
    assert row.tpr.method == "jeffreys by verdict with inverse-probability weights"


def test_labels_of_unknown_design_correct_nothing(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    row = corrected(folder, of_own_labels(folder, design=None)).whole

    assert "nobody said how the labelled records were chosen" in str(row.reason)


def test_labels_that_are_not_random_are_refused_after_they_were_recorded(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    own = of_own_labels(folder)
    failed = tuple(an_item(n, is_good=n > 25, is_passed=False) for n in range(30))
    row = corrected(folder, replace(own, items=(*failed, *own.items[6:8]))).whole

    assert "the judge passes 70.0 % of the run and 6.2 % of the labelled" in str(row.reason)


def test_rates_are_those_of_the_runs_own_verdicts(tmp_path: Path) -> None:
    """The judge was asked again about the same responses, and now fails all."""
    folder = write_run(tmp_path / "r", rows())
    again = write_run(tmp_path / "again", rows(failed=100))
    row: Any = corrected(again, of_own_labels(folder)).whole

    assert (row.tpr.value, row.tnr.value) == (0, 1)


def test_a_response_without_a_verdict_in_this_run_has_no_label(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    gone = [a_row(5, None) if row["index"] == 5 else row for row in rows()]
    row = corrected(write_run(tmp_path / "gone", gone), of_own_labels(folder)).whole

    assert (row.labels, row.n) == (19, 99)


def test_labels_of_two_runs_over_the_same_responses_count_once(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    own = of_own_labels(folder)
    twice = replace(
        own,
        items=(*own.items, *(replace(one, run_id="run_2") for one in own.items)),
        populations={"run_1": population(folder), "run_2": population(folder)},
    )

    assert corrected(folder, twice).whole.labels == 20


@pytest.mark.parametrize(
    ("counts", "is_drifted"),
    [(Counts(tp=80, fn=20, tn=40, fp=10), False), (Counts(tp=20, fn=80, tn=99, fp=1), True)],
)
def test_own_labels_are_compared_with_those_of_other_runs(
    tmp_path: Path, counts: Counts, is_drifted: bool
) -> None:
    folder = write_run(tmp_path / "r", rows())
    older = a_validation(counts=counts, validated_at="2026-01-01", populations={"run_0": "x"})
    drift: Any = corrected(folder, of_own_labels(folder), older).whole.drift

    assert (drift.against, drift.labelled_runs) == ("2026-01-01", ("run_0",))
    assert drift.is_drifted is is_drifted
    assert drift.tpr.before == counts.tp / 100


@pytest.mark.parametrize(("day", "run"), [("2026-05-20", "run_0"), ("2026-01-01", "run_2")])
def test_newer_labels_or_runs_show_no_drift_since(tmp_path: Path, day: str, run: str) -> None:
    folder = write_run(tmp_path / "r", rows())
    newer = a_validation(
        counts=Counts(tp=20, fn=80, tn=99, fp=1), validated_at=day, populations={run: "x"}
    )

    assert corrected(folder, of_own_labels(folder), newer).whole.drift is None


@pytest.mark.parametrize("more", [{"design": "by_verdict"}, {"design": None}, {"rule": "other"}])
def test_rates_that_cannot_be_compared_show_no_drift(tmp_path: Path, more: dict[str, Any]) -> None:
    folder = write_run(tmp_path / "r", rows())

    older = a_validation(validated_at="2026-01-01", **more)

    assert corrected(folder, of_own_labels(folder), older).whole.drift is None


def test_labels_of_its_own_replace_those_of_another_run(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    before = view(folder, corrected_pass_rate=BORROWED)
    after: Any = current_view(before, [of_own_labels(folder)], NOW).metrics.corrected_pass_rate

    assert (after.basis, after.is_later) == ("own labels", True)


def test_a_run_whose_own_labels_refuse_the_judge_is_not_corrected_by_other_labels(
    tmp_path: Path,
) -> None:
    folder = write_run(tmp_path / "r", rows())
    good = of_own_labels(folder)
    refused = replace(good, validated_at="2026-05-10", refusals=("why",))
    newest = a_validation(validated_at="2026-05-20", populations={"run_2": "x"})
    settled = view(folder, corrected_pass_rate=OWN)
    known = [good, refused, newest]
    row: Any = corrected(folder, *known).whole
    today: Any = current_view(settled, known, NOW).metrics.corrected_pass_rate

    said = "judge/right@1.0.0: was refused by the newest labels of these responses (2026-05-10)"
    assert (row.value, row.reason) == (None, f"{said}: why")
    assert today.reason == row.reason


def test_the_newest_labels_of_its_own_count(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows())
    good = of_own_labels(folder)
    unknown = replace(good, validated_at="2026-05-10", design=None)

    assert corrected(folder, good).whole.value is not None
    assert "nobody said" in str(corrected(folder, unknown, good).whole.reason)


def view(folder: Path, **metrics: Any) -> RunView:
    found = read_run(folder)
    return replace(found, metrics=structs.replace(found.metrics, **metrics))


def test_a_run_of_the_past_knows_what_was_found_out_later(tmp_path: Path) -> None:
    never = CorrectedRate(judge=JUDGE, reason="never")
    before = view(write_run(tmp_path / "r", rows()), corrected_pass_rate=never)
    after: Any = current_view(before, [a_validation()], NOW).metrics.corrected_pass_rate

    assert (after.method, after.is_later) == ("rogan-gladen", True)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"design": None}, "nobody said how the labelled records were chosen"),
        ({"counts": Counts(tp=3, tn=1)}, "4 labels are too few"),
        ({"validated_at": "2026-01-01"}, "was validated 151 days ago"),
    ],
)
def test_a_run_of_the_past_says_why_it_is_uncorrected_today(
    tmp_path: Path, more: dict[str, Any], reason: str
) -> None:
    never = CorrectedRate(judge=JUDGE, reason=f"{JUDGE} has never been validated")
    before = view(write_run(tmp_path / "r", rows()), corrected_pass_rate=never)
    after: Any = current_view(before, [a_validation(**more)], NOW).metrics.corrected_pass_rate

    assert reason in after.reason


def test_what_the_file_of_a_judge_says_corrects_nothing(tmp_path: Path) -> None:
    found = corrected_run(write_run(tmp_path / "r", rows()), [], NOW, claims={JUDGE: "2026-05-01"})

    assert found
    assert "was validated on 2026-05-01, says its file; a corrected rate needs" in str(
        found.whole.reason
    )


@pytest.mark.parametrize(
    ("metrics", "manifest", "known"),
    [
        ({"corrected_pass_rate": OWN}, {}, [a_validation()]),
        (
            {"corrected_pass_rate": BORROWED},
            {},
            [a_validation()],
        ),
        ({}, {"judges": []}, [a_validation()]),
        ({}, {}, []),
        ({}, {}, [a_validation(judge="judge/other@1.0.0", fingerprints=("x",))]),
        (
            {"corrected_pass_rate": BORROWED},
            {},
            [a_validation(validated_at="2026-01-01")],
        ),
    ],
)
def test_else_it_stays_what_it_was(
    tmp_path: Path,
    metrics: dict[str, Any],
    manifest: dict[str, Any],
    known: list[JudgeValidation],
) -> None:
    before = view(write_run(tmp_path / "r", rows(), **manifest), **metrics)

    assert current_view(before, known, NOW) is before
