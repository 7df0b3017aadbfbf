"""What grades a case when no rubric is named."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.graders import NamedJudges, judge_called
from steelyard.checks.choice import Choice as ChoiceCheck
from steelyard.checks.is_json import IsJson
from steelyard.checks.latency import Latency
from steelyard.contracts.schemas import load_schema
from steelyard.engine.grading.implicit import NothingGrades, implicit_rubric
from steelyard.judging.criteria import Criteria
from steelyard.judging.instrument import judges_of
from steelyard.judging.llm_judge import LlmJudge
from steelyard.model.case import AnswerChoice, Case, Criterion
from steelyard.model.evaluator import Evaluator
from steelyard.model.policy import Policy
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.settings import JudgeSetting

GRADERS = NamedJudges()
YES_NO = (AnswerChoice("A", "yes"), AnswerChoice("B", "no"))


def asked(kind: str, name: str | None = None, **settings: object) -> Evaluator:
    return Evaluator(name=name or kind, type=kind, settings={**settings})  # type: ignore[dict-item]


def rubric_of(case: Case) -> Rubric:
    rubric = implicit_rubric(case, GRADERS)
    assert isinstance(rubric, Rubric)
    return rubric


def test_the_rubric_is_the_weighted_mean_of_what_the_case_brings() -> None:
    rubric = rubric_of(Case(id="a", evaluators=(asked("equals", value="x"),)))

    assert (rubric.name, rubric.combine) == ("rubric/implicit@1.0.0", "weighted_avg")
    assert (rubric.pass_threshold, rubric.sha256) == (0.7, None)


def test_the_threshold_may_be_another() -> None:
    rubric = implicit_rubric(
        Case(id="a", evaluators=(asked("equals", value="x"),)), GRADERS, pass_threshold=0.5
    )

    assert isinstance(rubric, Rubric)
    assert rubric.pass_threshold == 0.5


@pytest.mark.parametrize(
    ("case", "judges"),
    [
        (Case(id="a", evaluator="llm_judge", expected_outcome="Says so."), ["accuracy"]),
        (Case(id="a", reference_answers=("4",)), ["reference"]),
        (Case(id="a", criteria=(Criterion(id="c", title="t"),)), ["criterion"]),
        (Case(id="a", expected_outcome="Says so."), ["accuracy"]),
        (Case(id="a", expected_outcome="Says so.", reference_answers=("4",)), ["accuracy"]),
        (Case(id="a", expected={"required_criteria": ["clarity", "brevity"]}), ["criteria"]),
        (
            Case(id="a", reference_answers=("4",), expected={"required_criteria": ["clarity"]}),
            ["reference", "criteria"],
        ),
        (Case(id="a", choices=YES_NO, reference_answers=("A",)), []),
    ],
)
def test_what_only_a_judge_can_grade_has_the_judge_for_it(case: Case, judges: list[str]) -> None:
    asked = [judge.id for entry in rubric_of(case).checks for judge, _ in judges_of(entry.check)]

    assert asked == judges


def test_a_judge_is_asked_as_its_settings_say() -> None:
    settings = {
        "reference": JudgeSetting(samples=3, logprobs=True),
        "criterion": JudgeSetting(grouped=True, samples=5),
    }
    graders = NamedJudges(settings=settings)
    criteria = (Criterion(id="c", title="t"),)
    compared = LlmJudge(judge=judge_called("reference"), samples=3, wants_logprobs=True)
    points = Criteria(
        criteria=criteria, judge=judge_called("criterion"), is_grouped=True, samples=5
    )

    assert _checks(implicit_rubric(Case(id="a", reference_answers=("4",)), graders)) == [compared]
    assert _checks(implicit_rubric(Case(id="a", criteria=criteria), graders)) == [points]


def test_required_criteria_are_judged_together_and_count_the_same() -> None:
    case = Case(id="a", expected={"required_criteria": ["clarity", "brevity"]})
    clear = "The answer is easy to follow for whoever asked."

    assert rubric_of(case).checks[0].check == Criteria(
        criteria=(
            Criterion(id="criterion-1", title="clarity", description=clear),
            Criterion(id="criterion-2", title="brevity"),
        ),
        judge=judge_called("criteria"),
        is_grouped=True,
    )


def test_every_criterion_that_a_document_may_require_is_explained() -> None:
    schema: Any = load_schema("dataset_document")
    expected = schema["$defs"]["record"]["properties"]["expected"]
    names = expected["properties"]["required_criteria"]["items"]["enum"]
    case = Case(id="a", expected={"required_criteria": names})
    check = rubric_of(case).checks[0].check

    assert isinstance(check, Criteria)
    assert all(criterion.description for criterion in check.criteria)


@pytest.mark.parametrize(
    ("judge", "aggregation", "criterion", "reference", "joined"),
    [
        ("default", "default", "criterion", "reference", "points_over_maximum"),
        ("none", "choice", "criterion", "reference", "points_over_maximum"),
        (
            *("prbench_criterion", "points_over_maximum"),
            *("prbench_criterion", "reference", "points_over_maximum"),
        ),
        ("apex_criterion", "share_met", "apex_criterion", "reference", "share_met"),
        ("lexam_reference", "score", "criterion", "lexam_reference", "points_over_maximum"),
        ("my_own", "score", "criterion", "my_own", "points_over_maximum"),
        ("my_own", "default", "my_own", "my_own", "points_over_maximum"),
    ],
)
def test_a_policy_names_the_judge_and_how_points_are_counted(
    judge: str, aggregation: Any, criterion: str, reference: str, joined: str
) -> None:
    policy = Policy(id="p", description="", user=(), judge=judge, aggregation=aggregation)
    # The references of a row with criteria are there for the judge to read.
    by_points = Case(id="a", reference_answers=("4",), criteria=(Criterion(id="c", title="t"),))
    (points,) = _checks(implicit_rubric(by_points, GRADERS, policy))
    (compared,) = _checks(implicit_rubric(Case(id="a", reference_answers=("4",)), GRADERS, policy))

    assert isinstance(points, Criteria)
    assert isinstance(compared, LlmJudge)
    assert (points.judge.id, points.aggregation) == (criterion, joined)
    assert compared.judge.id == reference


def _checks(rubric: Rubric | NothingGrades) -> list[object]:
    assert isinstance(rubric, Rubric)
    return [entry.check for entry in rubric.checks]


@pytest.mark.parametrize("kind", ["code_judge", "rubric", "composite", "contains"])
def test_a_default_evaluator_that_needs_settings_never_becomes_another(kind: str) -> None:
    graded = implicit_rubric(Case(id="a", evaluator=kind, expected_outcome="x"), GRADERS)

    assert graded == NothingGrades(
        f"the default evaluator '{kind}' cannot do without settings; list it under 'evaluators' "
        "with them"
    )


def test_a_default_evaluator_that_needs_none_is_carried_out() -> None:
    (entry,) = rubric_of(Case(id="a", evaluator="is_json", expected_outcome="x")).checks

    assert entry == RubricCheck(id="is_json", check=IsJson())


def test_a_list_of_evaluators_stands_instead_of_the_default_one() -> None:
    case = Case(id="a", evaluator="llm_judge", evaluators=(asked("equals", value="x"),))

    assert isinstance(implicit_rubric(case, GRADERS), Rubric)


@pytest.mark.parametrize(
    ("evaluator", "reason"),
    [
        (
            asked("regex", value="(?=a)b"),
            "evaluator 'regex': not a pattern RE2 knows: invalid perl operator: (?=",
        ),
        (asked("contains", value=""), "evaluator 'contains': a phrase must not be empty"),
    ],
)
def test_an_evaluator_that_cannot_be_made_grades_nothing(
    evaluator: Evaluator, reason: str
) -> None:
    assert implicit_rubric(Case(id="a", evaluators=(evaluator,)), GRADERS) == NothingGrades(reason)


@pytest.mark.parametrize(
    ("case", "kinds"),
    [
        (Case(id="a", expected={"format": "json"}), ["format"]),
        (Case(id="a", expected={"expected_facts": ["f"]}), ["fact_match"]),
        (
            Case(id="a", expected={"expected_tools": ["t"], "format": "text"}),
            ["format", "tool_usage"],
        ),
        (Case(id="a", expected={"format": "json", "max_latency_ms": 9}), ["format", "latency"]),
        (Case(id="a", choices=(AnswerChoice("A", "yes"), AnswerChoice("B", "no"))), ["choice"]),
    ],
)
def test_what_a_case_expects_becomes_a_check_that_takes_it_from_the_case(
    case: Case, kinds: list[str]
) -> None:
    assert [(entry.id, entry.check.kind) for entry in rubric_of(case).checks] == [
        (kind, kind) for kind in kinds
    ]


def test_a_choice_is_right_when_any_correct_one_is_chosen() -> None:
    case = Case(
        id="a",
        choices=(AnswerChoice("A", "yes"), AnswerChoice("B", "no")),
        correct_choice_ids=("A",),
    )

    assert rubric_of(case).checks[0].check == ChoiceCheck()


@pytest.mark.parametrize("case", [Case(id="a"), Case(id="a", expected={"other": "json"})])
def test_a_case_that_brings_nothing_is_graded_by_nothing(case: Case) -> None:
    assert implicit_rubric(case, GRADERS) == NothingGrades(
        "the case brings neither a reference nor expectations"
    )


def test_a_limit_on_latency_comes_on_top_and_only_gates() -> None:
    case = Case(id="a", evaluators=(asked("equals", value="x"),), expected={"max_latency_ms": 300})

    assert rubric_of(case).checks[1:] == (
        RubricCheck(id="latency", check=Latency(), weight=0.0, required=True),
    )


def test_a_limit_on_latency_alone_is_enough_to_grade() -> None:
    (check,) = rubric_of(Case(id="a", expected={"max_latency_ms": 300})).checks

    assert check.check == Latency()


def test_checks_of_one_name_are_told_apart() -> None:
    case = Case(
        id="a",
        evaluators=(
            asked("equals", "same", value="x"),
            asked("equals", "same", value="y"),
            asked("equals", "same-2", value="z"),
            asked("equals", "same", value="z"),
            asked("latency", threshold=5),
        ),
        expected={"max_latency_ms": 300},
    )

    assert [check.id for check in rubric_of(case).checks] == [
        *("same", "same-2", "same-2-2", "same-3", "latency", "latency-2")
    ]
