"""The statements of an eval, which a judge finds true or false of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject, JsonValue

LISTS = ("expectations", "assertions")
"""The names under which files have them."""
_TEXTS = ("text", "description", "statement", "assertion")
KIND = "rubric"


def statements(row: JsonObject) -> Iterator[Evaluator]:
    """One evaluator for all statements of an eval; none where there are none."""
    listed = [entry for name in LISTS for entry in cast(list[JsonValue], row.get(name, []))]
    items = tuple(_item(entry, number) for number, entry in enumerate(listed, start=1))
    if items:
        yield Evaluator(name="statements", type=KIND, rubrics=items)


def _item(entry: JsonValue, number: int) -> RubricItem:
    """A statement as a text, or as an object that has one; ids may repeat, numbers do not."""
    if isinstance(entry, str):
        return RubricItem(id=f"statement-{number}", description=entry)
    stated = cast(JsonObject, entry)
    text = next(stated[name] for name in _TEXTS if name in stated)
    return RubricItem(id=f"statement-{number}", description=cast(str, text))
