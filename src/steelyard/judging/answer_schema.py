"""The shape of a judge's answer: what an endpoint is held to, and how people would say it.

The schema uses no more than every known compiler of schemas takes: closed objects with all keys
required, enums, one level a question; no nullable, no limits, no references. Keys are generated
in the order of the schema, so that a judge quotes and reasons before it decides.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from threading import local

from steelyard.judging.once import Once
from steelyard.judging.questions_asked import CANNOT_JUDGE, AnswerField, Choice
from steelyard.model.json_value import JsonObject, JsonValue

MOST_STEPS = 50


class _Drawn(local):
    """What draws orders; to make one costs as much again as to seed it."""

    def __init__(self) -> None:
        self.order = Random()  # noqa: S311 - an order to show, no secret


_drawn = _Drawn()


def answer_schema(fields: Sequence[AnswerField]) -> JsonObject:
    """The JSON Schema of a reply, the same whatever order options are shown in."""
    answers = {field.key: _object(_parts(field)) for field in fields}
    return _object({"answers": _object(answers)})


def offered(field: AnswerField) -> tuple[Choice, ...]:
    """The values of a field, from worst to best where they have an order; none of free text.

    A scale of more steps than an enum should have offers none either.
    """
    if field.kind != "number" or field.span is None:
        return field.values
    least, most = field.span
    steps = round((most - least) / field.step)
    if steps > MOST_STEPS:
        return ()
    if is_integer(field):
        return tuple(range(int(least), int(most) + 1, int(field.step)))
    return tuple(_tidy(least + index * field.step) for index in range(steps + 1))


def is_integer(field: AnswerField) -> bool:
    """Whether a number must stand on the steps of a scale of integers."""
    return float(field.step).is_integer() and all(
        float(end).is_integer() for end in field.span or ()
    )


def shown_value(field: AnswerField, value: Choice) -> str:
    """A value as a judge is shown it: `4`, `"minor"`, `1 (pass)`."""
    label = field.labels.get(value)
    written = json.dumps(value, ensure_ascii=False)
    return written if label is None or label == value else f"{written} ({label})"


def values_shown(field: AnswerField, seed: int | None = None) -> str:
    """What may be answered, in words; the seed gives the order of options, None their own."""
    before, options, after = _said(field)
    return f"{before}{', '.join(_in_order(field, options, seed))}{after}"


def _words(field: AnswerField) -> tuple[str, tuple[str, ...], str]:
    """What is said before the options, the options, and what is said after them."""
    if field.kind == "text":
        return f'a text, or "{CANNOT_JUDGE}"', (), ""
    if field.kind == "number" and field.span is not None:
        return f'{_scale_shown(field, field.span)}, or "{CANNOT_JUDGE}"', (), ""
    options = tuple(shown_value(field, value) for value in field.values)
    if field.kind == "many":
        return "a list of none, one or several of ", options, f'; or ["{CANNOT_JUDGE}"]'
    return "one of ", options, f', or "{CANNOT_JUDGE}"'


_said = Once(_words)


def _in_order(field: AnswerField, options: Sequence[str], seed: int | None) -> Sequence[str]:
    """Options as they are shown: a scale upwards or downwards, others in any order."""
    if seed is None or field.is_fixed or not options:
        return options
    order = _drawn.order
    order.seed(f"{seed} {field.key}")
    if field.is_ordered:
        return options[:: order.choice((1, -1))]
    mixed = list(options)
    order.shuffle(mixed)
    return mixed


def _scale_shown(field: AnswerField, span: tuple[float, float]) -> str:
    names = zip(map(_tidy, span), field.ends or ("", ""), strict=True)
    labelled = [(end, field.labels.get(end, name)) for end, name in names]
    ends = [f"{end} ({label})" if label else f"{end}" for end, label in labelled]
    kind = "an integer" if is_integer(field) else "a number"
    steps = "" if field.step == 1 else f" in steps of {_tidy(field.step)}"
    return f"{kind} from {ends[0]} to {ends[1]}{steps}"


def _parts(field: AnswerField) -> JsonObject:
    return {
        "evidence": {"type": "string"},
        "reasoning": {"type": "string"},
        "value": _value_schema(field),
    }


def _value_schema(field: AnswerField) -> JsonObject:
    if field.kind == "text":
        return {"type": "string"}
    values = offered(field)
    if field.kind == "many":
        return {"type": "array", "items": {"type": "string", "enum": [*values, CANNOT_JUDGE]}}
    if values and all(isinstance(value, str) for value in values):
        return {"type": "string", "enum": [*values, CANNOT_JUDGE]}
    kind = "integer" if all(isinstance(value, int) for value in values) else "number"
    if not values and not is_integer(field):
        kind = "number"
    number: JsonObject = {"type": kind}
    if values:
        number["enum"] = list(values)
    # A union of types in one enum is refused by some compilers, two alternatives by none.
    return {"anyOf": [number, {"type": "string", "enum": [CANNOT_JUDGE]}]}


def _object(properties: JsonObject | dict[str, JsonObject]) -> JsonObject:
    members: dict[str, JsonValue] = dict(properties)
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def _tidy(number: float) -> int | float:
    """A number as people write it: 0.3 for 0.30000000000000004, 1 for 1.0."""
    rounded = round(number, 6)
    return int(rounded) if float(rounded).is_integer() else rounded
