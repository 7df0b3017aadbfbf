"""A value that a judge gave, as one of the values that were asked for.

Beside the values themselves only this is taken: digits in quotes, a number over the maximum
(`4/5`), the label of exactly one value, another case of letters, `yes`, `no`, `true` and `false`
where 1 and 0 are asked for, one option where a list is, and options named twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from steelyard.judging.answer_schema import is_integer, offered, shown_value
from steelyard.judging.questions_asked import CANNOT_JUDGE, AnswerField, Choice, Value
from steelyard.model.json_value import JsonValue

_LONGEST = 1_000
_DIGITS = re.compile(r"[+-]?\d{1,12}(?:\.\d{1,12})?")
_OVER_MAXIMUM = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)\s*/\s*(\d{1,12}(?:\.\d{1,12})?)")
_WORDS = {"yes": 1, "true": 1, "no": 0, "false": 0}


class Read(NamedTuple):
    """A value, and whether it had to be turned into one; None where it is none."""

    value: Value | None
    is_coerced: bool = False


def read_value(field: AnswerField, raw: JsonValue) -> Read:
    """What a judge's value stands for; `CANNOT_JUDGE` for that."""
    if isinstance(raw, str) and folded(raw).replace(" ", "_").replace("-", "_") == CANNOT_JUDGE:
        return Read(CANNOT_JUDGE, is_coerced=raw != CANNOT_JUDGE)
    if field.kind == "text":
        return Read(raw.strip() or None) if isinstance(raw, str) else Read(None)
    if field.kind == "many":
        return _several(field, raw)
    return _single(field, raw)


def _several(field: AnswerField, raw: JsonValue) -> Read:
    listed = raw if isinstance(raw, list) else [raw]
    read = [read_value(_one_of(field), item) for item in listed]
    if any(item.value == CANNOT_JUDGE for item in read):
        return Read(CANNOT_JUDGE, is_coerced=len(read) > 1)
    if any(item.value is None for item in read):
        return Read(None)
    chosen = {item.value for item in read}
    ordered = tuple(str(value) for value in field.values if value in chosen)
    is_coerced = any(item.is_coerced for item in read) or len(ordered) != len(listed)
    return Read(ordered, is_coerced or not isinstance(raw, list))


def _one_of(field: AnswerField) -> AnswerField:
    return AnswerField(key=field.key, values=field.values, labels=field.labels)


def _single(field: AnswerField, raw: JsonValue) -> Read:
    if isinstance(raw, bool):
        return Read(int(raw), is_coerced=True) if _is_yes_or_no(field) else Read(None)
    if isinstance(raw, int | float):
        return Read(_number(field, raw))
    if not isinstance(raw, str) or len(raw) > _LONGEST:
        return Read(None)
    if raw in field.values:
        return Read(raw)
    return Read(_from_text(field, raw), is_coerced=True)


def _number(field: AnswerField, raw: float) -> int | float | None:
    """The number, if it is on the scale or among the values."""
    if field.kind == "one" or field.span is None:
        same = [value for value in field.values if not isinstance(value, str) and value == raw]
        return same[0] if same else None
    least, most = field.span
    if not least <= raw <= most:
        return None
    if not is_integer(field):
        return raw
    on_step = float(raw).is_integer() and (int(raw) - int(least)) % int(field.step) == 0
    return int(raw) if on_step else None


def _from_text(field: AnswerField, raw: str) -> Choice | None:
    text = folded(raw)
    if _DIGITS.fullmatch(text):
        return _number(field, float(text))
    if over := _OVER_MAXIMUM.fullmatch(text):
        maximum = _maximum(field)
        return _number(field, float(over[1])) if float(over[2]) == maximum else None
    if _is_yes_or_no(field) and text in _WORDS:
        return _WORDS[text]
    return _named(field, text)


def _named(field: AnswerField, text: str) -> Choice | None:
    """The one value that is called so: by itself, by its label, or as both were shown."""
    values = offered(field)
    called = [value for value in values if isinstance(value, str) and folded(value) == text]
    called += [value for value, label in field.labels.items() if folded(label) == text]
    called += [value for value in values if folded(shown_value(field, value)) == text]
    found = set(called)
    return called[0] if len(found) == 1 else None


def _maximum(field: AnswerField) -> float | None:
    if field.span is not None:
        return field.span[1]
    numbers = [value for value in field.values if not isinstance(value, str)]
    return max(numbers, default=None)


def _is_yes_or_no(field: AnswerField) -> bool:
    return _same(field.values, (0, 1))


def _same(values: Sequence[Choice], others: Sequence[Choice]) -> bool:
    return sorted(map(str, values)) == sorted(map(str, others))


def folded(text: str) -> str:
    """A text as replies are compared: without quotes, a last dot, capitals and odd spaces."""
    return " ".join(text.split()).strip("\"'` ").rstrip(".").casefold()
