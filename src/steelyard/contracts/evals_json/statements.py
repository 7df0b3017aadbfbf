"""The statements of an eval, which a judge finds true or false of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from steelyard.contracts.evals_json.assertions import LISTS, TEXTS, check_of
from steelyard.formats.json_fields import fields, list_field
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject, JsonValue

KIND = "rubric"


def statements(row: JsonObject) -> Iterator[Evaluator]:
    """The checks among the assertions of an eval, then one evaluator for all statements."""
    listed = [entry for name in LISTS for entry in list_field(row, name)]
    items: list[RubricItem] = []
    for number, entry in enumerate(listed, start=1):
        check = check_of(entry, number)
        if check:
            yield check
        else:
            items.append(_item(entry, number))
    if items:
        yield Evaluator(name="statements", type=KIND, rubrics=tuple(items))


def _item(entry: JsonValue, number: int) -> RubricItem:
    """A statement as a text, or as an object that has one; ids may repeat, numbers do not."""
    if isinstance(entry, str):
        return RubricItem(id=f"statement-{number}", description=entry)
    stated = fields(entry)
    text = next(stated[name] for name in TEXTS if name in stated)
    return RubricItem(id=f"statement-{number}", description=cast(str, text))
