"""`field_accuracy`: fields of a JSON response are those expected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, ClassVar, Literal, NamedTuple, cast

from steelyard.checks.dates import FORMS, day_of, require_forms
from steelyard.checks.json_in_text import embedded_json
from steelyard.checks.json_reply import any_json, same_json
from steelyard.checks.setting_rules import Rule, without_effect
from steelyard.checks.text import clip
from steelyard.errors import ParseError, SettingError
from steelyard.model.case import Case
from steelyard.model.json_value import Extra, JsonObject, JsonValue
from steelyard.model.outcome import Outcome
from steelyard.model.scores import weighted_mean
from steelyard.model.trace import Trace

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,9})\]")
_SHOWN = 4
_ABSENT = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class AccurateField:
    """One part of the response's JSON, and how it is compared."""

    rules: ClassVar[Extra] = {
        "allOf": [
            without_effect("tolerance", "match", "exact", "date"),
            without_effect("relative", "match", "exact", "date"),
            without_effect("formats", "match", "exact", "numeric_tolerance"),
        ]
    }

    path: Annotated[str, Rule("Such as a.b[0].c.", {"pattern": r"\S"})]
    match: Annotated[
        Literal["exact", "numeric_tolerance", "date"], Rule("How the values are compared.")
    ]
    required: Annotated[bool, Rule("A missing value counts 0; true by default.")] = True
    weight: Annotated[
        float,
        Rule("How much it counts; 1 by default.", {"minimum": 0, "maximum": 1e300}),
    ] = 1.0
    tolerance: Annotated[float, Rule("The difference allowed.", {"minimum": 0})] = 0.0
    relative: Annotated[bool, Rule("Whether the tolerance is a share of the value.")] = False
    formats: Annotated[
        tuple[str, ...],
        Rule("The forms of a date beside YYYY-MM-DD, such as DD/MM/YYYY.", {"minItems": 0}),
    ] = ()

    def __post_init__(self) -> None:
        """Refuse a path or a form that cannot be read."""
        require_forms(self.formats)
        if "".join(step[0] for step in _STEP.finditer(self.path)) != self.path:
            raise SettingError("fields", f"'{self.path}' is no path; write such as a.b[0].c")

    def value_in(self, document: JsonValue) -> object:
        """The value at the path; a mark of its own where there is none."""
        for step in _STEP.finditer(self.path):
            name, index = step.groups()
            if index is not None and isinstance(document, list) and int(index) < len(document):
                document = document[int(index)]
            elif name is not None and isinstance(document, dict) and name in document:
                document = document[name]
            else:
                return _ABSENT
        return document

    def is_same(self, wanted: JsonValue, given: JsonValue) -> bool:
        """Whether a value is the one expected."""
        if self.match == "exact":
            return same_json(wanted, given)
        if self.match == "date":
            return self._is_same_day(wanted, given)
        left, right = _number(wanted), _number(given)
        if left is None or right is None:
            return False
        # A share of 0 would allow nothing.
        scale = abs(left) if self.relative and left != 0 else 1.0
        return abs(left - right) <= self.tolerance * scale

    def _is_same_day(self, wanted: JsonValue, given: JsonValue) -> bool:
        if not isinstance(wanted, str) or not isinstance(given, str):
            return False
        day = day_of(wanted, self.formats)
        return day is not None and day == day_of(given, self.formats)


class _Result(NamedTuple):
    field: AccurateField
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAccuracy:
    """Pass when every field is as the reference has it; the score is the share by weight."""

    kind: ClassVar[str] = "field_accuracy"
    revision: ClassVar[int] = 2

    fields: Annotated[
        tuple[AccurateField, ...],
        Rule("Which parts of the response's JSON are compared, and how."),
    ]
    aggregation: Annotated[
        Literal["weighted_average", "all_or_nothing"], Rule("How the fields are joined.")
    ] = "weighted_average"

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Compare field by field what the response and the reference have at its path."""
        wanted = _reference(case)
        if wanted is None:
            return Outcome.unavailable("the case has no reference answer that is JSON")
        stated = [one for one in self.fields if one.value_in(wanted) is not _ABSENT]
        if not stated:
            return Outcome.unavailable("the reference has none of the fields")
        given = _answer(trace.response)
        if given is None:
            return Outcome.failing(f"is not JSON; got {clip(trace.response)!r}")
        results = [_result(one, wanted, given) for one in stated]
        return self._joined([result for result in results if result is not None], stated)

    def _joined(self, results: list[_Result], stated: list[AccurateField]) -> Outcome:
        details: JsonObject = {
            "fields": {result.field.path: result.score for result in results},
            "not_compared": [
                one.path
                for one in self.fields
                if one not in stated or all(one is not result.field for result in results)
            ],
        }
        if not results:
            reason = "has none of the fields, all of which may be left out"
            return Outcome(passed=False, score=0.0, reason=reason, details=details)
        wrong = [result for result in results if not result.score]
        if not wrong:
            reason = f"{len(results)} field(s) as expected"
            return Outcome(passed=True, score=1.0, reason=reason, details=details)
        misses = "; ".join(result.reason for result in wrong[:_SHOWN])
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        reason = (
            f"{len(results) - len(wrong)} of {len(results)} field(s) as expected: {misses}{more}"
        )
        return Outcome(passed=False, score=self._score(results), reason=reason, details=details)

    def _score(self, results: list[_Result]) -> float:
        """By weight; where nothing has weight, one wrong field is enough for 0."""
        weights = [result.field.weight for result in results]
        if self.aggregation == "all_or_nothing" or not any(weights):
            return 0.0
        return weighted_mean([result.score for result in results], weights)


def _result(field: AccurateField, wanted: JsonValue, given: JsonValue) -> _Result | None:
    """What a field comes to; None for one that may be left out and is."""
    expected = cast(JsonValue, field.value_in(wanted))
    value = field.value_in(given)
    if value is _ABSENT:
        return _Result(field, 0.0, f"{field.path} is missing") if field.required else None
    found = cast(JsonValue, value)
    if field.is_same(expected, found):
        return _Result(field, 1.0, "")
    return _Result(field, 0.0, f"{field.path} is {_difference(field, found, expected)}")


def _difference(field: AccurateField, found: JsonValue, expected: JsonValue) -> str:
    """What is there and what was wanted; where both look the same, what tells them apart."""
    shown, wanted = clip(repr(found), 40), clip(repr(expected), 40)
    for value, text, whose in ((expected, wanted, " of the reference"), (found, shown, "")):
        if field.match == "date" and not (isinstance(value, str) and day_of(value, field.formats)):
            forms = ", ".join((FORMS[0], *(field.formats or FORMS[1:])))
            return f"{shown}, and {text}{whose} is no date of the forms {forms}"
        if field.match == "numeric_tolerance" and _number(value) is None:
            return f"{shown}, and {text}{whose} is no number"
    if shown != wanted:
        return f"{shown}, not {wanted}"
    return f"{shown} ({_kind(found)}), not {wanted} ({_kind(expected)}); they differ further on"


def _kind(value: JsonValue) -> str:
    size = f" of {len(value):,}" if isinstance(value, str | list | dict) else ""
    return f"{type(value).__name__}{size}"


def _reference(case: Case) -> JsonValue:
    """The reference as JSON: the content of the last expected message of the assistant."""
    for message in reversed(case.expected_messages):
        if message.role == "assistant" and message.content is not None:
            if isinstance(message.content, Mapping):
                return dict(message.content)
            return _answer(message.text)
    return next(filter(None, map(_answer, case.reference_answers)), None)


def _answer(text: str) -> JsonValue:
    """The object or list in a text: all of it, its one block, or what stands between braces."""
    try:
        found = any_json(text)
    except ParseError:
        found = next(embedded_json(text), None)
    return found if isinstance(found, dict | list) else None


def _number(value: JsonValue) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None
