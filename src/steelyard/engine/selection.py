"""Which records a run selects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

from steelyard.engine.redaction.own_rules import OwnFields
from steelyard.engine.redaction.text import TextSpan, with_marks
from steelyard.errors import InvalidError
from steelyard.formats.json_place import parse_path
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonValue

# PATH, OP, VALUE, and what joins the next clause; quotes keep an `and` inside a value.
_CLAUSE = re.compile(
    r"""\s*([\w.\[\]-]+)\s*(!=|=|<|>|~)(?![=<>~])\s*("[^"]*"|'[^']*'|[^"'\s].*?)(\s+and(?:\s+|$)|\s*$)""",
    re.DOTALL,
)


class Clause(FrozenStruct, frozen=True):
    """One comparison of a field with a value."""

    path: str
    operator: str
    value: str

    def holds(self, record: Mapping[str, JsonValue]) -> bool:
        """Whether a record meets it; of a list, any item may."""
        found = value_at(record, self.path)
        items = found if isinstance(found, list) else [found]
        if self.operator == "!=":
            return not any(self._equals(item) for item in items)
        return any(self._compare(item) for item in items)

    def _compare(self, item: JsonValue) -> bool:
        if self.operator == "=":
            return self._equals(item)
        if self.operator == "~":
            return self.value.casefold() in _text(item).casefold()
        left, right = _number(item), _number(self.value)
        if left is None or right is None:
            return False
        return left < right if self.operator == "<" else left > right

    def _equals(self, item: JsonValue) -> bool:
        """Texts by their letters, numbers by their value."""
        if isinstance(item, str) or _number(item) is None:
            return _text(item) == self.value
        return _number(item) == _number(self.value)


def parse_where(text: str) -> tuple[Clause, ...]:
    """Read `path OP value`, joined by `and`."""
    clauses: list[Clause] = []
    for found in _clauses(text):
        path, operator, value, _ = found.groups()
        unquoted = value[1:-1] if value[0] in {'"', "'"} else value
        clauses.append(Clause(path, operator, unquoted))
    return tuple(clauses)


def without_values(text: str, hidden: tuple[str, ...]) -> str:
    """A selection as it may be written: a mark stands for each value of a hidden field."""
    fields = OwnFields(hidden)
    marks = [
        (TextSpan(*found.span(3)), f"[redacted:{field}]")
        for found in _clauses(text)
        if (field := _field_in(found[1], fields))
    ]
    return with_marks(text, marks)


def _field_in(path: str, fields: OwnFields) -> str | None:
    """The hidden field that a path leads to or into."""
    names = tuple(part for part in parse_path(path) if isinstance(part, str))
    ways = (names[:end] for end in range(1, len(names) + 1))
    return next(filter(None, map(fields.of, ways)), None)


def _clauses(text: str) -> Iterator[re.Match[str]]:
    place, is_open = 0, True
    while is_open:
        found = _CLAUSE.match(text, place)
        if found is None:
            raise InvalidError(
                f"cannot read '{text[place:].strip()}'; write PATH OP VALUE with = != < > or ~, "
                "joined by and; quotes around a value keep what is inside"
            )
        yield found
        place, is_open = found.end(), bool(found[4].strip())


def value_at(record: Mapping[str, JsonValue], path: str) -> JsonValue:
    """The value of a path such as `metadata.topic`; None where it leads nowhere."""
    found: JsonValue = cast(JsonValue, record)
    for part in parse_path(path):
        if isinstance(found, Mapping) and isinstance(part, str):
            found = found.get(part)
        elif isinstance(found, list) and isinstance(part, int) and part < len(found):
            found = found[part]
        else:
            return None
    return found


def _text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _number(value: JsonValue) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None
