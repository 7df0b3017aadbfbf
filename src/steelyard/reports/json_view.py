"""JSON for people: coloured keys, short values on one line, long lists and objects folded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from markupsafe import Markup, escape

from steelyard.model.json_value import JsonValue

LINE = 88
"""A value of at most so many characters stands on one line."""
LARGE = 40_000
"""A longer text is shown as it is: nobody folds and unfolds that much."""
_FOLDED = 8
"""A value within another one with more members than this is folded."""
_DEEP = 24


def json_line(value: JsonValue) -> str:
    """A value on one line."""
    return json.dumps(value, ensure_ascii=False)


def fields_text(value: JsonValue) -> str:
    """How much a value holds, such as `7 fields`; empty for a plain value."""
    if isinstance(value, dict):
        return f"{len(value):,} field{'' if len(value) == 1 else 's'}"
    if isinstance(value, list):
        return f"{len(value):,} item{'' if len(value) == 1 else 's'}"
    return ""


def json_markup(value: JsonValue) -> Markup:
    """A value as HTML that needs no script to fold."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if len(text) > LARGE:
        return Markup('<div class="json">{}</div>').format(text)
    inner = "".join(_value(value, 0))
    return Markup(f'<div class="json">{inner}</div>')  # noqa: S704 - every text is escaped


def _value(value: JsonValue, depth: int) -> Iterator[str]:
    line = json_line(value)
    is_short = len(line) <= LINE - 2 * depth
    if not isinstance(value, dict | list) or not value or is_short or depth > _DEEP:
        yield _coloured_line(value) if isinstance(value, dict) and is_short else str(escape(line))
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    members = "".join(_members(value, depth))
    body = f"{opening}\n{members}{'  ' * depth}{closing}"
    if depth == 0 or len(value) <= _FOLDED:
        yield body
        return
    summary = f"{opening} {fields_text(value)} {closing}"
    yield f'<details class="j-fold"><summary>{summary}</summary>{body}</details>'


def _members(value: dict[str, JsonValue] | list[JsonValue], depth: int) -> Iterator[str]:
    named: Iterable[tuple[str, JsonValue]]
    named = value.items() if isinstance(value, dict) else (("", one) for one in value)
    for number, (name, one) in enumerate(named, start=1):
        key = f"{_key(name)}: " if isinstance(value, dict) else ""
        comma = "," if number < len(value) else ""
        yield f"{'  ' * (depth + 1)}{key}{''.join(_value(one, depth + 1))}{comma}\n"


def _coloured_line(value: dict[str, JsonValue]) -> str:
    members = (f"{_key(name)}: {escape(json_line(one))}" for name, one in value.items())
    return "{" + ", ".join(members) + "}"


def _key(name: str) -> str:
    return f'<span class="j-k">{escape(json_line(name))}</span>'
