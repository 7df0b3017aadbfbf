"""What grades a case when no rubric is named."""

from __future__ import annotations

import pytest

from steelyard.checks.catalog import Catalog
from steelyard.checks.choice import Choice as ChoiceCheck
from steelyard.checks.contains_all import ContainsAll
from steelyard.checks.ends_with import EndsWith
from steelyard.checks.equals import Equals
from steelyard.checks.is_json import IsJson
from steelyard.checks.latency import Latency
from steelyard.checks.markdown_structure import MarkdownStructure
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.checks.regex import Regex
from steelyard.checks.starts_with import StartsWith
from steelyard.engine.implicit import NeedsJudge, NothingGrades, implicit_rubric
from steelyard.model.case import Case
from steelyard.model.choice import Choice
from steelyard.model.criterion import Criterion
from steelyard.model.evaluator import Evaluator
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Check, Rubric, RubricCheck

CATALOG = Catalog()


def asked(kind: str, name: str | None = None, **settings: object) -> Evaluator:
    return Evaluator(name=name or kind, type=kind, settings={**settings})  # type: ignore[dict-item]


def rubric_of(case: Case) -> Rubric:
    rubric = implicit_rubric(case, CATALOG)
    assert isinstance(rubric, Rubric)
    return rubric


@pytest.mark.parametrize(
    ("kind", "settings", "check"),
    [
        ("contains", {"value": "a"}, MustContainAny(phrases=("a",), ignore_case=False)),
        ("icontains", {"value": "a"}, MustContainAny(phrases=("a",))),
        (
            "contains_any",
            {"value": ["a", "b"]},
            MustContainAny(phrases=("a", "b"), ignore_case=False),
        ),
        ("icontains_any", {"value": ["a", "b"]}, MustContainAny(phrases=("a", "b"))),
        ("equals", {"value": "a"}, Equals(value="a")),
        ("regex", {"value": "a+"}, Regex(pattern="a+")),
        ("regex", {"value": "a+", "flags": "gi"}, Regex(pattern="(?i)a+")),
        ("regex", {"value": "a+", "flags": "smiu"}, Regex(pattern="(?ims)a+")),
        ("regex", {"value": "a+", "flags": "g"}, Regex(pattern="a+")),
        ("latency", {"threshold": 1500}, Latency(max_ms=1500)),
        ("contains_all", {"value": ["a"]}, ContainsAll(phrases=("a",), ignore_case=False)),
        ("icontains_all", {"value": ["a"]}, ContainsAll(phrases=("a",))),
        ("starts_with", {"value": "a"}, StartsWith(value="a")),
        ("ends_with", {"value": "a"}, EndsWith(value="a")),
        ("is_json", {}, IsJson()),
        ("must_contain_any", {"phrases": ["a"]}, MustContainAny(phrases=("a",))),
        ("markdown_structure", {"no_h1": True}, MarkdownStructure(no_h1=True)),
    ],
)
def test_an_evaluator_of_a_deterministic_type_becomes_its_check(
    kind: str, settings: JsonObject, check: Check
) -> None:
    evaluator = Evaluator(name="mine", type=kind, weight=2.5, settings=settings)

    assert rubric_of(Case(id="a", evaluators=(evaluator,))).checks == (
        RubricCheck(id="mine", check=check, weight=2.5),
    )


@pytest.mark.parametrize(
    ("settings", "required", "negate"),
    [
        ({"required": True}, True, False),
        ({"required": 0.8}, True, False),
        ({"required": False, "negate": True}, False, True),
    ],
)
def test_an_evaluator_can_be_required_and_negated(
    settings: JsonObject, required: bool, negate: bool
) -> None:
    evaluator = Evaluator(name="a", type="equals", settings={"value": "x", **settings})
    (check,) = rubric_of(Case(id="a", evaluators=(evaluator,))).checks

    assert (check.required, check.negate) == (required, negate)


def test_the_rubric_is_the_weighted_mean_of_what_the_case_brings() -> None:
    rubric = rubric_of(Case(id="a", evaluators=(asked("equals", value="x"),)))

    assert (rubric.name, rubric.combine) == ("rubric/implicit@1.0.0", "weighted_avg")
    assert (rubric.pass_threshold, rubric.sha256) == (0.7, None)


def test_the_threshold_may_be_another() -> None:
    rubric = implicit_rubric(Case(id="a", evaluators=(asked("equals", value="x"),)), CATALOG, 0.5)

    assert isinstance(rubric, Rubric)
    assert rubric.pass_threshold == 0.5


@pytest.mark.parametrize(
    ("case", "what"),
    [
        (Case(id="a", evaluators=(asked("llm_judge", "tone"),)), "evaluator 'tone' (llm_judge)"),
        (Case(id="a", evaluators=(asked("rubric"),)), "evaluator 'rubric' (rubric)"),
        (Case(id="a", evaluator="llm_judge"), "the default evaluator 'llm_judge'"),
        (Case(id="a", reference_answers=("4",)), "its reference answer"),
        (Case(id="a", criteria=(Criterion(id="c", title="t"),)), "its rubric"),
        (Case(id="a", expected_outcome="Says so."), "its criteria"),
        (Case(id="a", expected={"expected_facts": ["f"]}, expected_outcome="x"), "its criteria"),
        (
            Case(id="a", expected={"required_criteria": ["clarity"], "max_latency_ms": 9}),
            "expected.required_criteria",
        ),
        (
            Case(id="a", evaluators=(asked("equals", value="x"), asked("llm_judge"))),
            "evaluator 'llm_judge' (llm_judge)",
        ),
    ],
)
def test_what_only_a_judge_can_grade_is_named(case: Case, what: str) -> None:
    assert implicit_rubric(case, CATALOG) == NeedsJudge(what)


def test_a_list_of_evaluators_stands_instead_of_the_default_one() -> None:
    case = Case(id="a", evaluator="llm_judge", evaluators=(asked("equals", value="x"),))

    assert isinstance(implicit_rubric(case, CATALOG), Rubric)


@pytest.mark.parametrize(
    "kind",
    [
        *("code_judge", "composite", "tool_trajectory", "field_accuracy", "cost", "token_usage"),
    ],
)
def test_a_type_that_is_not_carried_out_yet_never_becomes_another(kind: str) -> None:
    case = Case(id="a", evaluators=(asked("equals", value="x"), asked(kind, "mine")))

    assert implicit_rubric(case, CATALOG) == NothingGrades(
        f"evaluator 'mine': this version does not carry out {kind} yet"
    )


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
    assert implicit_rubric(Case(id="a", evaluators=(evaluator,)), CATALOG) == NothingGrades(reason)


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
        (Case(id="a", choices=(Choice("A", "yes"), Choice("B", "no"))), ["choice"]),
    ],
)
def test_what_a_case_expects_becomes_a_check_that_takes_it_from_the_case(
    case: Case, kinds: list[str]
) -> None:
    assert [(entry.id, entry.check.kind) for entry in rubric_of(case).checks] == [
        (kind, kind) for kind in kinds
    ]


def test_a_choice_is_right_when_any_correct_one_is_chosen() -> None:
    case = Case(id="a", choices=(Choice("A", "yes"), Choice("B", "no")), correct_choice_ids=("A",))

    assert rubric_of(case).checks[0].check == ChoiceCheck()


@pytest.mark.parametrize("case", [Case(id="a"), Case(id="a", expected={"other": "json"})])
def test_a_case_that_brings_nothing_is_graded_by_nothing(case: Case) -> None:
    assert implicit_rubric(case, CATALOG) == NothingGrades(
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
