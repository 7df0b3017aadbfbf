"""What metrics need to know of the questions, criteria and items that judges were asked about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TypeAlias, cast

import msgspec

from steelyard.formats.json_fields import text_field
from steelyard.model.json_value import Extra, JsonObject, JsonValue
from steelyard.model.outcome import Outcome

GivenValue: TypeAlias = int | float | str | tuple[str, ...]


class QuestionFact(msgspec.Struct, frozen=True, gc=False):
    """One question, criterion or item in one result: its answers, one or one for each turn."""

    item: str
    type: str
    """The type of the question; `criterion` or `item` for what is met or not."""
    asked: str
    """A digest of what was asked: items of one name that ask different things stay apart."""
    values: tuple[GivenValue, ...] = ()
    unanswered: int = 0


def question_facts(outcome: Outcome) -> tuple[QuestionFact, ...]:
    """The facts of a judged check, in the order in which its details list them."""
    found: dict[tuple[str, str], list[JsonValue]] = {}
    asked: dict[tuple[str, str], str] = {}
    for row in _rows(outcome.details):
        key = (text_field(row, "item"), text_field(row, "type"))
        found.setdefault(key, []).append(row.get("value"))
        asked.setdefault(key, text_field(row, "asked", ""))
    return tuple(
        QuestionFact(
            item,
            kind,
            _digest(asked[item, kind]),
            tuple(_given(value) for value in values if value is not None),
            sum(value is None for value in values),
        )
        for (item, kind), values in found.items()
    )


def _rows(details: Extra) -> Iterator[JsonObject]:
    """What a check asked about, and the checks within it."""
    for row in _objects(details.get("items")):
        if isinstance(row.get("item"), str) and isinstance(row.get("type"), str):
            yield row
    for inner in _objects(details.get("results")):
        within = inner.get("details")
        if isinstance(within, dict):
            yield from _rows(within)


def _objects(rows: JsonValue) -> list[JsonObject]:
    listed = rows if isinstance(rows, list) else []
    return [row for row in listed if isinstance(row, dict)]


def _given(value: JsonValue) -> GivenValue:
    return tuple(cast(list[str], value)) if isinstance(value, list) else cast(GivenValue, value)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
