"""Whether a judge may be relied on as it is asked: told once, refused in strict mode."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from fakes.scripted_judges import a_judge
from fakes.targets import ScriptedTarget
from fakes.validations import a_validation
from steelyard.engine.grading.composite import JudgedComposite
from steelyard.engine.grading.evaluator_composite import JudgedEvaluatorComposite
from steelyard.errors import RequestError
from steelyard.execution.ports import TargetSpec
from steelyard.judging.criteria import Criteria, stated_criteria
from steelyard.judging.jury import Juror, Jury
from steelyard.judging.llm_judge import LlmJudge
from steelyard.model.judge import Judge, Validation
from steelyard.model.rubric import Check, JudgedCheck, Rubric, RubricCheck
from steelyard.model.statistics.validation import Counts, JudgeValidation
from steelyard.usecases.correction.validation_rules import shortfall
from steelyard.usecases.correction.validation_status import ValidationWatch, instrument_of
from steelyard.usecases.correction.validations import MinimumValidation

NOW = datetime(2026, 6, 1, tzinfo=UTC)
JUDGE = a_judge(id="right")
OTHER = a_judge("Other {{ output }}", id="other")
SPEC = TargetSpec(name="live", target=ScriptedTarget(), sampling={}, model="m")


def spec_of(_judge: Judge, _target: str | None) -> TargetSpec | None:
    return SPEC


def a_rubric(*checks: Check | JudgedCheck) -> Rubric:
    entries = tuple(RubricCheck(id=f"c{n}", check=check) for n, check in enumerate(checks))
    return Rubric(id="r", version="1.0.0", checks=entries)


def valid_for(check: Any, **more: Any) -> JudgeValidation:
    """A validation of a check as it would be asked."""
    found = instrument_of(RubricCheck(id="c", check=check), spec_of)
    assert found
    known: dict[str, Any] = {
        "judge": found.name,
        "fingerprints": found.fingerprints,
        "rule": found.rule,
        **more,
    }
    return a_validation(**known)


ALONE = LlmJudge(judge=JUDGE)
PANEL = Jury(jurors=(Juror(judge=JUDGE), Juror(judge=OTHER)))
Told = Callable[..., list[str]]


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Told:
    """What is told of some rubrics, each for some cases."""

    def tell(
        *rubrics: Rubric,
        known: tuple[JudgeValidation, ...] = (),
        bundles: tuple[str | None, ...] = (None,),
        strict: bool = False,
        least: MinimumValidation | None = None,
    ) -> list[str]:
        standing = ValidationWatch(lambda: known, NOW, spec_of, strict=strict, least=least)
        with caplog.at_level(logging.WARNING, logger="steelyard"):
            for rubric in rubrics:
                for number, bundle in enumerate(bundles):
                    standing.see(rubric, f"q{number}", bundle)
        return [record.getMessage() for record in caplog.records]

    return tell


def test_a_judge_that_was_never_validated_is_told_of_once(told: Told) -> None:
    found = told(a_rubric(ALONE), a_rubric(ALONE, ALONE), bundles=(None, "fees"))

    (only,) = found
    assert only.startswith("judge/right@1.0.0 has never been validated; `steelyard judge")


def test_a_rubric_without_judges_is_no_matter(told: Told) -> None:
    assert told(a_rubric()) == []


@pytest.mark.parametrize("check", [ALONE, PANEL])
def test_a_judge_that_is_validated_as_it_is_asked_is_fine(told: Told, check: Any) -> None:
    assert told(a_rubric(check), known=(valid_for(check),), strict=True) == []


@pytest.mark.parametrize(
    ("least", "said"),
    [
        (MinimumValidation(), None),
        (MinimumValidation(tpr=0.8, tnr=0.6, sample_size=150), None),
        (MinimumValidation(tpr=0.83), "the lower bound of its TPR is 82.6 %, below 83.0 %"),
        (MinimumValidation(tnr=0.7), "the lower bound of its TNR is 67.0 %, below 70.0 %"),
        (MinimumValidation(sample_size=151), "it rests on 150 labels, not 151"),
    ],
)
def test_a_required_validation_must_reach_what_is_required(
    told: Told, least: MinimumValidation, said: str | None
) -> None:
    known = (valid_for(ALONE),)
    if said is None:
        assert told(a_rubric(ALONE), known=known, least=least) == []
        return
    with pytest.raises(
        RequestError, match=f"require_validated: .* not validated well enough: {said}"
    ):
        told(a_rubric(ALONE), known=known, least=least)


def test_strict_warns_of_a_judge_that_was_never_validated(told: Told) -> None:
    (found,) = told(a_rubric(ALONE), strict=True)

    assert "has never been validated" in found


def test_a_required_validation_must_be_there(told: Told) -> None:
    with pytest.raises(RequestError, match=r"require_validated: .* has never been validated"):
        told(a_rubric(ALONE), least=MinimumValidation())


def test_a_class_without_labels_reaches_no_bound(told: Told) -> None:
    assert "its TNR is unknown, below 10.0 %" in shortfall(
        a_validation(counts=Counts(tp=90, fn=10)), MinimumValidation(tnr=0.1)
    )


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (Counts(tp=2, tn=2), "4 labels are too few; at least 10 are needed"),
        (Counts(tp=90, fn=10, tn=4), "the labels of bad responses are worth 4 independent ones"),
    ],
)
def test_too_few_labels_are_no_validation(told: Told, counts: Counts, said: str) -> None:
    """As with none at all, strict warns; a required validation refuses."""
    known = (valid_for(ALONE, counts=counts),)
    (found,) = told(a_rubric(ALONE), known=known, strict=True)

    assert f"judge/right@1.0.0 is not validated by its labels: {said}" in found
    with pytest.raises(RequestError, match=f"require_validated: .*{said}"):
        told(a_rubric(ALONE), known=known, least=MinimumValidation())


COIN = Counts(tp=5, fn=16, tn=4, fp=15)


@pytest.mark.parametrize(
    ("newest", "said"),
    [
        ({"counts": Counts(tp=2, tn=2)}, "(the newest validation counts, 2026-05-20)"),
        ({"counts": COIN}, "was refused by its newest validation (2026-05-20): TPR 23.8 %"),
        ({"design": None}, "nobody said how the labelled records were chosen (`design`)"),
        ({"refusals": ("why",)}, "was refused by its newest validation (2026-05-20): why"),
    ],
)
@pytest.mark.parametrize("is_last", [True, False])
def test_the_newest_validation_counts_though_an_older_one_is_better(
    told: Told, newest: dict[str, Any], said: str, is_last: bool
) -> None:
    known = [valid_for(ALONE), valid_for(ALONE, validated_at="2026-05-20", **newest)]
    (found,) = told(a_rubric(ALONE), known=tuple(known if is_last else known[::-1]))

    assert said in found


def test_a_refusal_does_not_grow_old(told: Told) -> None:
    known = valid_for(ALONE, validated_at="2025-01-01", refusals=("why",))
    (found,) = told(a_rubric(ALONE), known=(known,))

    assert "was refused by its newest validation (2025-01-01): why" in found


def test_a_newer_validation_ends_a_refusal(told: Told) -> None:
    known = (valid_for(ALONE, validated_at="2026-04-01", refusals=("why",)), valid_for(ALONE))

    assert told(a_rubric(ALONE), known=known, strict=True) == []


def test_a_judge_refused_as_another_instrument_has_never_been_validated(told: Told) -> None:
    other = LlmJudge(judge=replace(JUDGE, template="Old {{ output }}"))
    (found,) = told(a_rubric(ALONE), known=(valid_for(other, refusals=("why",)),))

    assert "has never been validated" in found


def test_times_are_compared_as_instants(told: Told) -> None:
    """Ten in Berlin is before nine in London, whatever the text says."""
    good = valid_for(ALONE, validated_at="2026-05-20T09:00:00+00:00")
    coin = valid_for(ALONE, validated_at="2026-05-20T10:00:00+02:00", counts=COIN)

    assert told(a_rubric(ALONE), known=(good, coin), strict=True) == []


def test_a_moved_threshold_of_the_record_is_another_rule(told: Told) -> None:
    moved = replace(a_rubric(ALONE), pass_threshold=0.5)

    for more in ({"strict": True}, {"least": MinimumValidation()}):
        with pytest.raises(
            RequestError, match=r"decides here by 'llm_judge at 0\.7, rubric at 0\.5'"
        ):
            told(moved, known=(valid_for(ALONE),), **more)


def test_a_judge_no_better_than_a_coin_may_not_be_relied_on(told: Told) -> None:
    coin = valid_for(ALONE, counts=COIN)
    (found,) = told(a_rubric(ALONE), known=(coin,))

    assert (
        "TPR 23.8 % + TNR 21.1 % is not above 100 %: the judge is no better than a coin" in found
    )
    with pytest.raises(RequestError, match=r"strict: .* no better than a coin"):
        told(a_rubric(ALONE), known=(coin,), strict=True)


def test_four_good_and_four_bad_labels_refuse_nobody(told: Told) -> None:
    (found,) = told(a_rubric(ALONE), known=(valid_for(ALONE, counts=Counts(fn=9, fp=4)),))

    assert "coin" not in found
    assert "the labels of bad responses are worth 4 independent ones" in found


def test_a_jury_is_validated_as_a_jury(told: Told) -> None:
    (found,) = told(a_rubric(PANEL), known=(valid_for(ALONE),))

    assert "judge/right@1.0.0, judge/other@1.0.0 was validated as 'llm_judge at 0.7'" in found


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (LlmJudge(judge=JUDGE, threshold=0.5), "validated as 'llm_judge at 0.7', and decides"),
        (LlmJudge(judge=replace(JUDGE, template="New {{ output }}")), "as another instrument"),
    ],
)
def test_another_rule_or_template_is_another_instrument(told: Told, check: Any, said: str) -> None:
    (found,) = told(a_rubric(check), known=(valid_for(ALONE),))

    assert said in found


@pytest.mark.parametrize(
    ("day", "is_told"),
    [("2026-03-03T00:00:00Z", False), ("2026-03-02T23:59:59Z", True), ("2026-03-02", True)],
)
def test_a_validation_holds_for_ninety_days(told: Told, day: str, is_told: bool) -> None:
    found = told(a_rubric(ALONE), known=(valid_for(ALONE, validated_at=day),))

    assert [("after 90 days a judge is stale" in one) for one in found] == [True] * is_told


def test_the_newest_validation_counts(told: Told) -> None:
    old = valid_for(ALONE, validated_at="2025-01-01")

    assert told(a_rubric(ALONE), known=(valid_for(ALONE), old)) == []


def claiming(**more: Any) -> LlmJudge:
    """A check whose judge has a validation in its file."""
    known: dict[str, Any] = {"validated_at": "2026-05-01", "sample_size": 200, **more}
    written = Validation(**known)
    return LlmJudge(judge=replace(JUDGE, validation=written))


def test_a_validation_that_the_judges_file_holds_counts(told: Told) -> None:
    """The file travels where the registry does not."""
    assert told(a_rubric(claiming()), strict=True) == []
    assert told(a_rubric(claiming()), least=MinimumValidation()) == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"validated_at": "2025-07-18"}, "was validated 318 days ago"),
        ({"validated_at": "2099-01-01"}, r"was validated in the future \(2099-01-01\)"),
        ({"extra": {"fingerprints": ["x"]}}, "says its file, as another instrument"),
    ],
)
def test_strict_refuses_what_a_file_says(told: Told, more: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=f"strict: judge/right@1.0.0 {said}|strict.*{said}"):
        told(a_rubric(claiming(**more)), strict=True)


@pytest.mark.parametrize(
    ("least", "more", "said"),
    [
        (MinimumValidation(tpr=0.1), {"tpr": 0.99}, "what is required must be in the registry"),
        (MinimumValidation(), {"sample_size": 4}, "by 4 labels; at least 10 are needed"),
        (MinimumValidation(), {"sample_size": None}, "does not say by how many labels"),
    ],
)
def test_a_file_reaches_no_minimum(
    told: Told, least: MinimumValidation, more: dict[str, Any], said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        told(a_rubric(claiming(**more)), least=least)


@pytest.mark.parametrize(("day", "is_fresh"), [("2026-05-20", True), ("2026-03-10", False)])
def test_the_newest_of_file_and_registry_counts(told: Told, day: str, is_fresh: bool) -> None:
    """The registry knows another instrument."""
    changed = valid_for(LlmJudge(judge=replace(JUDGE, template="Old {{ output }}")))
    found = told(a_rubric(claiming(validated_at=day)), known=(changed,))

    assert ["as another instrument" in one for one in found] == [True] * (not is_fresh)


def test_what_a_file_says_of_a_juror_is_not_about_the_jury(told: Told) -> None:
    panel = Jury(jurors=(Juror(judge=claiming().judge), Juror(judge=OTHER)))
    (found,) = told(a_rubric(panel))

    assert "judge/right@1.0.0, judge/other@1.0.0 has never been validated" in found


def test_another_version_of_a_validated_judge_is_stale(told: Told) -> None:
    newer = LlmJudge(judge=replace(JUDGE, version="1.1.0", template="New {{ output }}"))

    with pytest.raises(RequestError, match=r"judge/right@1\.0\.0 was validated as another"):
        told(a_rubric(newer), known=(valid_for(ALONE),), strict=True)


def test_cases_of_another_domain_are_told_of_once(told: Told) -> None:
    known = valid_for(ALONE, applicable_to=("fees",))
    found = told(a_rubric(ALONE), known=(known,), bundles=("fees", None, "loans", "loans"))

    assert [one.partition(";")[0] for one in found] == [
        "'q2': judge/right@1.0.0 has not been validated for 'loans'"
    ]


def test_what_the_file_says_of_its_scope_is_told_elsewhere(told: Told) -> None:
    narrow = LlmJudge(judge=replace(JUDGE, applicable_to=("fees",)))
    known = valid_for(narrow, applicable_to=("fees",))

    assert told(a_rubric(narrow), known=(known,), bundles=("loans",)) == []


@pytest.mark.parametrize(
    ("known", "bundle", "said"),
    [
        ((valid_for(ALONE, validated_at="2025-01-01"),), None, "a judge is stale"),
        ((valid_for(ALONE, validated_at="2099-01-01"),), None, "in the future"),
        ((valid_for(ALONE, applicable_to=("fees",)),), "loans", "strict: 'q0': judge/right"),
    ],
)
def test_strict_refuses(
    told: Told, known: tuple[JudgeValidation, ...], bundle: str | None, said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        told(a_rubric(ALONE), known=known, bundles=(bundle,), strict=True)


def test_judges_within_composites_are_looked_at(told: Told) -> None:
    inner = JudgedComposite(rubric=a_rubric(ALONE))
    joined = JudgedEvaluatorComposite(members=(), judge=LlmJudge(judge=OTHER))
    found = told(a_rubric(inner, joined))

    assert found[0].startswith("judge/right@1.0.0 has never been validated")
    assert found[1].startswith("whether judge/other@1.0.0 was validated is not known")


def test_criteria_of_other_cases_are_other_questions(told: Told) -> None:
    """What a case brings is asked of the judge: another text was never validated."""
    seen, new = (
        Criteria(criteria=stated_criteria(texts), judge=JUDGE)
        for texts in (["short", "kind"], ["short", "new"])
    )
    fewer = Criteria(criteria=stated_criteria(["kind"]), judge=JUDGE)
    known = (valid_for(seen),)

    assert told(a_rubric(seen), a_rubric(fewer), known=known) == []
    assert len(told(a_rubric(new), known=known)) == 1


def test_a_judge_without_a_target_was_never_validated() -> None:
    found = instrument_of(RubricCheck(id="c", check=ALONE), lambda _judge, _target: None)

    assert found
    assert found.fingerprints == ()
