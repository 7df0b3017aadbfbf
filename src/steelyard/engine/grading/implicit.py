"""What grades a case when no rubric is named: what the case itself brings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from steelyard.checks.choice import Choice
from steelyard.checks.fact_match import FactMatch
from steelyard.checks.format import Format
from steelyard.checks.latency import Latency
from steelyard.checks.tool_usage import ToolUsage
from steelyard.engine.grading.evaluators import EvaluatorChecks, free_name
from steelyard.engine.grading.graders import Graders, single_judge
from steelyard.errors import SettingError
from steelyard.judging.criteria import Criteria, stated_criteria
from steelyard.model.case import Case
from steelyard.model.evaluator import UNGRADED
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.policy import Policy
from steelyard.model.rubric import PASS_THRESHOLD, Check, JudgedCheck, Rubric, RubricCheck

# What contract 2 names in a word, so that every judge is asked the same.
_REQUIRED = {
    "accuracy": "What the answer says is right, and agrees with the reference where there is one.",
    "clarity": "The answer is easy to follow for whoever asked.",
    "reasoning": "The steps that lead to the result are sound, and none that matters is missing.",
    "factuality": "Every fact that the answer states is true, and nothing in it is made up.",
    "overall": "Taken as a whole, the answer does what was asked, and does it well.",
}


class NothingGrades(FrozenStruct, frozen=True):
    """The case brings no way of grading."""

    reason: str


def implicit_rubric(
    case: Case,
    graders: Graders,
    policy: Policy | None = None,
    pass_threshold: float = PASS_THRESHOLD,
) -> Rubric | NothingGrades:
    """The rubric that a case stands for: the weighted mean of what it brings."""
    checks = EvaluatorChecks(graders, case.place.file)
    try:
        entries = list(checks.entries(case.evaluators))
        if case.evaluator not in {None, UNGRADED} and not case.evaluators:
            entries.append(checks.default(str(case.evaluator)))
    except SettingError as wrong:
        return NothingGrades(str(wrong))
    for check in (*_judged(case, graders, policy), *_expected(case)):
        entries.append(RubricCheck(id=_free(check.kind, entries), check=check))
    if "max_latency_ms" in case.expected:
        name = _free("latency", entries)
        entries.append(RubricCheck(id=name, check=Latency(), weight=0.0, required=True))
    if not entries and case.evaluator == UNGRADED:
        return NothingGrades("the case is ungraded (evaluator: none)")
    if not entries:
        return NothingGrades("the case brings neither a reference nor expectations")
    return Rubric(
        id="implicit", version="1.0.0", checks=tuple(entries), pass_threshold=pass_threshold
    )


def _judged(case: Case, graders: Graders, policy: Policy | None) -> Iterator[JudgedCheck]:
    """The checks of what only a judge can grade, beside the evaluators of the case."""
    if case.criteria:
        judge = graders.judge(policy.criteria_judge if policy else "criterion")
        setting = graders.setting(judge)
        yield Criteria(
            criteria=case.criteria,
            judge=judge,
            is_grouped=setting.grouped,
            aggregation=policy.criteria_aggregation if policy else "points_over_maximum",
            samples=setting.samples,
        )
    # Contract 5 has a default evaluator for its goal; other contracts state criteria alone.
    is_stated = case.evaluator is None and not case.evaluators and bool(case.expected_outcome)
    # Beside criteria, a reference answer is there for the judge to read (contract 1).
    is_compared = bool(case.reference_answers) and not case.choices and not case.criteria
    if is_compared and not is_stated:
        judge = graders.judge(policy.reference_judge if policy else "reference")
        yield single_judge(judge, graders.setting(judge))
    required = case.expected.get("required_criteria")
    if required:
        judge = graders.judge("criteria")
        criteria = tuple(
            replace(one, description=_REQUIRED.get(one.title, ""))
            for one in stated_criteria(cast(list[str], required))
        )
        samples = graders.setting(judge).samples
        yield Criteria(criteria=criteria, judge=judge, is_grouped=True, samples=samples)
    if is_stated:
        judge = graders.judge("accuracy")
        yield single_judge(judge, graders.setting(judge))


def _expected(case: Case) -> Iterator[Check]:
    """The checks of what a case says about a good answer."""
    if case.choices:
        yield Choice()
    if case.expected.get("format"):
        yield Format()
    if case.expected.get("expected_facts"):
        yield FactMatch()
    if case.expected.get("expected_tools"):
        yield ToolUsage()


def _free(name: str, earlier: list[RubricCheck]) -> str:
    return free_name(name, {entry.id for entry in earlier})
