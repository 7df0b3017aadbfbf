"""What grades a case when no rubric is named: what the case itself brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from typing import Any, cast

from steelyard.checks.catalog import Catalog
from steelyard.checks.choice import Choice
from steelyard.checks.contains_all import ContainsAll
from steelyard.checks.ends_with import EndsWith
from steelyard.checks.equals import Equals
from steelyard.checks.fact_match import FactMatch
from steelyard.checks.format import Format
from steelyard.checks.is_json import IsJson
from steelyard.checks.latency import Latency
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.checks.regex import Regex
from steelyard.checks.starts_with import StartsWith
from steelyard.checks.tool_usage import ToolUsage
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
    case: Case, catalog: Catalog, pass_threshold: float = PASS_THRESHOLD
) -> Rubric | NeedsJudge | NothingGrades:
    """The rubric that a case stands for: the weighted mean of what it brings."""
    entries: list[RubricCheck] = []
    for evaluator in case.evaluators:
        made = _check(evaluator, catalog)
        if not isinstance(made, RubricCheck):
            return made
        if any(made.id == earlier.id for earlier in entries):
            made = replace(made, id=_free(made.id, entries))
        entries.append(made)
    judged = _judged(case)
    if judged:
        return NeedsJudge(judged)
    entries.extend(
        RubricCheck(id=_free(check.kind, entries), check=check) for check in _expected(case)
    )
    if "max_latency_ms" in case.expected:
        name = _free("latency", entries)
        entries.append(RubricCheck(id=name, check=Latency(), weight=0.0, required=True))
    if not entries:
        return NothingGrades("the case brings neither a reference nor expectations")
    return Rubric(
        id="implicit", version="1.0.0", checks=tuple(entries), pass_threshold=pass_threshold
    )


def _judged(case: Case) -> str | None:
    """What of a case only a judge can grade, beside its evaluators."""
    if case.evaluator is not None and not case.evaluators:
        return f"the default evaluator '{case.evaluator}'"
    if case.criteria:
        return "its rubric"
    if case.reference_answers:
        return "its reference answer"
    if case.expected.get("required_criteria"):
        return "expected.required_criteria"
    # Contract 5 has a default evaluator for its goal; other contracts state criteria alone.
    if case.expected_outcome and case.evaluator is None and not case.evaluators:
        return "its criteria"
    return None


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
    """The name, or the name with the first number that no earlier check has taken."""
    taken = {entry.id for entry in earlier}
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def _check(evaluator: Evaluator, catalog: Catalog) -> RubricCheck | NeedsJudge | NothingGrades:
    """The check that an evaluator stands for."""
    if evaluator.type in _JUDGED:
        return NeedsJudge(f"evaluator '{evaluator.name}' ({evaluator.type})")
    make = _MAKERS.get(evaluator.type)
    if make is None and evaluator.type in catalog.kinds and evaluator.type not in _OTHERWISE:
        make = partial(_of_kind, catalog, evaluator.type)
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


def _of_kind(catalog: Catalog, kind: str, settings: Mapping[str, Any]) -> Check:
    """A check by the name of its kind, as inline checks have it."""
    own = {name: value for name, value in settings.items() if name not in _FRAME}
    return catalog.make(kind, own)


def _regex(settings: Mapping[str, Any]) -> Check:
    """Of the flags, only i, m and s change what matches."""
    flags = "".join(sorted(set(settings.get("flags", "")) & set("ims")))
    return Regex(pattern=f"(?{flags}){settings['value']}" if flags else settings["value"])


_JUDGED = {"llm_judge", "rubric"}
_FRAME = ("required", "negate")
# Types of contract 5 whose settings are not those of the kind of the same name.
_OTHERWISE = ("composite", "field_accuracy", "tool_trajectory", "cost", "token_usage")
_MAKERS: dict[str, Callable[[Mapping[str, Any]], Check]] = {
    "contains": lambda s: MustContainAny(phrases=(s["value"],), ignore_case=False),
    "icontains": lambda s: MustContainAny(phrases=(s["value"],)),
    "contains_any": lambda s: MustContainAny(phrases=tuple(s["value"]), ignore_case=False),
    "icontains_any": lambda s: MustContainAny(phrases=tuple(s["value"])),
    "contains_all": lambda s: ContainsAll(phrases=tuple(s["value"]), ignore_case=False),
    "icontains_all": lambda s: ContainsAll(phrases=tuple(s["value"])),
    "starts_with": lambda s: StartsWith(value=s["value"]),
    "ends_with": lambda s: EndsWith(value=s["value"]),
    "is_json": lambda s: IsJson(),  # noqa: ARG005 - has no settings
    "equals": lambda s: Equals(value=s["value"]),
    "regex": _regex,
    "latency": lambda s: Latency(max_ms=s["threshold"]),
}
