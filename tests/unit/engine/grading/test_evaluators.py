"""The evaluators of eval cases as checks."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.graders import NamedJudges, judge_called
from steelyard.checks.command import Command
from steelyard.checks.contains_all import ContainsAll
from steelyard.checks.cost import Cost
from steelyard.checks.ends_with import EndsWith
from steelyard.checks.equals import Equals
from steelyard.checks.field_accuracy import AccurateField, FieldAccuracy
from steelyard.checks.fuzzy_match import FuzzyMatch
from steelyard.checks.is_json import IsJson
from steelyard.checks.latency import Latency
from steelyard.checks.markdown_structure import MarkdownStructure
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.checks.regex import Regex
from steelyard.checks.starts_with import StartsWith
from steelyard.checks.token_usage import TokenUsage
from steelyard.checks.tool_trajectory import ExpectedCall, ToolTrajectory
from steelyard.engine.grading.evaluator_composite import (
    EvaluatorComposite,
    JoinedByProgram,
    JudgedEvaluatorComposite,
    PassShare,
    WeightedMean,
)
from steelyard.engine.grading.evaluators import EvaluatorChecks
from steelyard.engine.grading.prompt_judge import prompt_judge, results_judge
from steelyard.errors import SettingError
from steelyard.judging.llm_judge import LlmJudge
from steelyard.judging.rubric_items import RubricItems
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Check, JudgedCheck, RubricCheck
from steelyard.settings import JudgeSetting

CHECKS = EvaluatorChecks(NamedJudges(), "evals/cases.yaml")
POLITE = RubricItem(id="rubric-1", description="Is polite")


def made(kind: str, checks: EvaluatorChecks = CHECKS, **more: Any) -> object:
    """The check that an evaluator stands for."""
    settings = more.pop("settings", {})
    return checks.entry(Evaluator(name="mine", type=kind, settings=settings, **more)).check


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
        ("fuzzy_match", {"value": ["a", "b"]}, FuzzyMatch(values=("a", "b"))),
        ("must_contain_any", {"phrases": ["a"]}, MustContainAny(phrases=("a",))),
        ("markdown_structure", {"no_h1": True}, MarkdownStructure(no_h1=True)),
        ("cost", {"budget": 0.5}, Cost(max_usd=0.5)),
        ("token_usage", {"max_total": 9, "min_score": 1}, TokenUsage(max_total=9)),
        (
            "tool_trajectory",
            {"mode": "exact", "expected": [{"tool": "a", "args": "any"}]},
            ToolTrajectory(mode="exact", expected=(ExpectedCall(tool="a", args="any"),)),
        ),
        (
            "field_accuracy",
            {"fields": [{"path": "a", "match": "exact"}], "aggregation": "all_or_nothing"},
            FieldAccuracy(
                fields=(AccurateField(path="a", match="exact"),), aggregation="all_or_nothing"
            ),
        ),
    ],
)
def test_an_evaluator_of_a_deterministic_type_becomes_its_check(
    kind: str, settings: JsonObject, check: Check
) -> None:
    evaluator = Evaluator(name="mine", type=kind, weight=2.5, settings=settings)

    assert CHECKS.entry(evaluator) == RubricCheck(id="mine", check=check, weight=2.5)


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
    check = CHECKS.entry(evaluator)

    assert (check.required, check.negate) == (required, negate)


@pytest.mark.parametrize(
    ("evaluator", "check"),
    [
        ({}, LlmJudge(judge=judge_called("accuracy"))),
        (
            {"settings": {"threshold": 0.9, "judge_target": "big"}},
            LlmJudge(judge=judge_called("accuracy"), threshold=0.9, target="big"),
        ),
        (
            {"prompt": "Is {{candidate_answer}} polite?", "settings": {"min_score": 0.5}},
            LlmJudge(judge=prompt_judge("mine", "Is {{candidate_answer}} polite?"), threshold=0.5),
        ),
        (
            {"rubrics": (POLITE,), "settings": {"judge_target": "big"}},
            RubricItems(items=(POLITE,), judge=judge_called("rubric_items"), target="big"),
        ),
        (
            {"settings": {"value": "Is polite"}},
            RubricItems(items=(POLITE,), judge=judge_called("rubric_items")),
        ),
        (
            {"prompt": "Look at {{output_messages}}.", "settings": {"value": "Is polite"}},
            LlmJudge(judge=prompt_judge("mine", "Look at {{output_messages}}.")),
        ),
    ],
)
def test_a_judge_grades_by_its_prompt_its_statements_or_the_goal(
    evaluator: dict[str, Any], check: JudgedCheck
) -> None:
    assert made("llm_judge", **evaluator) == check


@pytest.mark.parametrize(
    ("evaluator", "check"),
    [
        ({}, RubricItems(items=(POLITE,), judge=judge_called("rubric_items"))),
        (
            {"settings": {"required": 0.6}},
            RubricItems(items=(POLITE,), judge=judge_called("rubric_items"), threshold=0.6),
        ),
        (
            {"prompt": "About {{candidate_answer}}:"},
            RubricItems(
                items=(POLITE,), judge=prompt_judge("mine", "About {{candidate_answer}}:")
            ),
        ),
    ],
)
def test_statements_are_judged_one_by_one(evaluator: dict[str, Any], check: RubricItems) -> None:
    assert made("rubric", rubrics=(POLITE,), **evaluator) == check


def test_judges_are_asked_as_their_settings_say() -> None:
    settings = {
        "accuracy": JudgeSetting(samples=5, logprobs=True),
        "rubric_items": JudgeSetting(grouped=True),
    }
    checks = EvaluatorChecks(NamedJudges(settings=settings))

    assert made("llm_judge", checks) == LlmJudge(
        judge=judge_called("accuracy"), samples=5, wants_logprobs=True
    )
    assert made("rubric", checks, rubrics=(POLITE,)) == RubricItems(
        items=(POLITE,), judge=judge_called("rubric_items"), is_grouped=True
    )


@pytest.mark.parametrize(
    ("settings", "command"),
    [
        ({"script": ["a", "b"]}, Command(script=("a", "b"), near="evals/cases.yaml")),
        (
            {"script": "a | b", "cwd": "graders", "threshold": 0.5, "required": True},
            Command(script="a | b", cwd="graders", threshold=0.5, near="evals/cases.yaml"),
        ),
        (
            {"script": ["a"], "strictness": 3, "config": {"word": "x"}, "negate": True},
            Command(script=("a",), config={"strictness": 3, "word": "x"}, near="evals/cases.yaml"),
        ),
    ],
)
def test_a_code_judge_is_a_program_beside_the_file(settings: JsonObject, command: Command) -> None:
    assert made("code_judge", settings=settings) == command


@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        (
            Evaluator(name="e", type="regex", settings={"value": "(?=a)b"}),
            "evaluator 'e': not a pattern RE2 knows: invalid perl operator: (?=",
        ),
        (
            Evaluator(name="e", type="unheard_of"),
            "evaluator 'e': unheard_of is no type of evaluator",
        ),
        (
            Evaluator(name="e", type="code_judge", settings={"script": ["a"], "target": True}),
            "evaluator 'e': a program cannot ask a judge here; use llm_judge beside it",
        ),
        (
            Evaluator(
                name="outer",
                type="composite",
                members=(Evaluator(name="e", type="unheard_of"),),
                settings={"aggregator": {"type": "threshold", "threshold": 1}},
            ),
            "evaluator 'outer': evaluator 'e': unheard_of is no type of evaluator",
        ),
    ],
)
def test_what_cannot_be_made_is_named(evaluator: Evaluator, message: str) -> None:
    with pytest.raises(SettingError) as caught:
        CHECKS.entry(evaluator)

    assert str(caught.value) == message


EQUALS = Evaluator(name="same", type="equals", settings={"value": "x"})
JUDGED = Evaluator(name="same", type="llm_judge")
MEMBERS = (
    RubricCheck(id="same", check=Equals(value="x")),
    RubricCheck(id="same-2", check=LlmJudge(judge=judge_called("accuracy"))),
)


@pytest.mark.parametrize(
    ("aggregator", "settings", "joined"),
    [
        ({"type": "weighted_average"}, {}, WeightedMean({}, 0.7)),
        (
            {"type": "weighted_average", "weights": {"same": 2}},
            {"min_score": 0.9},
            WeightedMean({"same": 2}, 0.9),
        ),
        ({"type": "threshold", "threshold": 0.5}, {}, PassShare(0.5)),
        (
            {"type": "code_judge", "script": "join.sh", "cwd": "x"},
            {"threshold": 0.4},
            JoinedByProgram(
                Command(script="join.sh", cwd="x", threshold=0.4, near="evals/cases.yaml")
            ),
        ),
    ],
)
def test_a_composite_joins_its_members(
    aggregator: JsonObject, settings: JsonObject, joined: Any
) -> None:
    settings = {"aggregator": aggregator, **settings}

    assert made("composite", members=(EQUALS,), settings=settings) == EvaluatorComposite(
        members=MEMBERS[:1], joined=joined
    )
    assert made(
        "composite", members=(EQUALS, JUDGED), settings=settings
    ) == JudgedEvaluatorComposite(members=MEMBERS, joined=joined)


@pytest.mark.parametrize("prompt", [None, "Given {{EVALUATOR_RESULTS_JSON}}, decide."])
def test_a_judge_may_join_the_members(prompt: str | None) -> None:
    settings: JsonObject = {"aggregator": {"type": "llm_judge"}, "threshold": 0.6}
    found = made("composite", members=(EQUALS,), settings=settings, prompt=prompt)

    assert found == JudgedEvaluatorComposite(
        members=MEMBERS[:1],
        judge=LlmJudge(judge=results_judge("mine", prompt), threshold=0.6),
    )


def test_composites_nest_freely() -> None:
    settings: JsonObject = {"aggregator": {"type": "threshold", "threshold": 1}}
    inner = Evaluator(name="inner", type="composite", members=(JUDGED,), settings=settings)
    outer = made("composite", members=(EQUALS, inner), settings=settings)

    assert isinstance(outer, JudgedEvaluatorComposite)
    assert isinstance(outer.members[1].check, JudgedEvaluatorComposite)
