"""What grades a case when no rubric is named: what the case itself brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, cast

from steelyard.checks.equals import Equals
from steelyard.checks.latency import Latency
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.checks.regex import Regex
from steelyard.errors import SettingError
from steelyard.model.case import Case
from steelyard.model.evaluator import Evaluator
from steelyard.model.rubric import PASS_THRESHOLD, Check, Rubric, RubricCheck


@dataclass(frozen=True, slots=True)
class NeedsJudge:
    """The case can only be graded by a judge."""

    what: str


@dataclass(frozen=True, slots=True)
class NothingGrades:
    """The case brings no way of grading."""

    reason: str


def implicit_rubric(
    case: Case, pass_threshold: float = PASS_THRESHOLD
) -> Rubric | NeedsJudge | NothingGrades:
    """The rubric that a case stands for: the weighted mean of what it brings."""
    entries: list[RubricCheck] = []
    for evaluator in case.evaluators:
        made = _check(evaluator)
        if not isinstance(made, RubricCheck):
            return made
        entries.append(replace(made, id=_free(made.id, entries)))
    if not case.evaluators and case.evaluator is not None:
        return NeedsJudge(f"the default evaluator '{case.evaluator}'")
    if case.reference_answers:
        return NeedsJudge("reference.answer")
    if case.expected.get("required_criteria"):
        return NeedsJudge("expected.required_criteria")
    if "max_latency_ms" in case.expected:
        name = _free("latency", entries)
        entries.append(RubricCheck(id=name, check=Latency(), weight=0.0, required=True))
    if not entries:
        return NothingGrades("the case brings neither a reference nor expectations")
    return Rubric(
        id="implicit", version="1.0.0", checks=tuple(entries), pass_threshold=pass_threshold
    )


def _free(name: str, earlier: list[RubricCheck]) -> str:
    """The name, or the name with the first number that no earlier check has taken."""
    taken = {entry.id for entry in earlier}
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def _check(evaluator: Evaluator) -> RubricCheck | NeedsJudge | NothingGrades:
    """The check that an evaluator stands for."""
    if evaluator.type in _JUDGED:
        return NeedsJudge(f"evaluator '{evaluator.name}' ({evaluator.type})")
    make = _MAKERS.get(evaluator.type)
    if make is None:
        reason = f"this version does not carry out {evaluator.type} yet"
        return NothingGrades(f"evaluator '{evaluator.name}': {reason}")
    settings = evaluator.settings
    try:
        check = make(cast(Any, settings))
    except SettingError as wrong:
        return NothingGrades(f"evaluator '{evaluator.name}': {wrong}")
    return RubricCheck(
        id=evaluator.name,
        check=check,
        weight=evaluator.weight,
        required=bool(settings.get("required", False)),
        negate=bool(settings.get("negate", False)),
    )


def _regex(settings: Mapping[str, Any]) -> Check:
    """Of the flags, only i, m and s change what matches."""
    flags = "".join(sorted(set(settings.get("flags", "")) & set("ims")))
    return Regex(pattern=f"(?{flags}){settings['value']}" if flags else settings["value"])


_JUDGED = {"llm_judge", "rubric"}
_MAKERS: dict[str, Callable[[Mapping[str, Any]], Check]] = {
    "contains": lambda s: MustContainAny(phrases=(s["value"],), ignore_case=False),
    "icontains": lambda s: MustContainAny(phrases=(s["value"],)),
    "contains_any": lambda s: MustContainAny(phrases=tuple(s["value"]), ignore_case=False),
    "icontains_any": lambda s: MustContainAny(phrases=tuple(s["value"])),
    "equals": lambda s: Equals(value=s["value"]),
    "regex": _regex,
    "latency": lambda s: Latency(max_ms=s["threshold"]),
}
