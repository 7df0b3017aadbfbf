"""The cases of rows that need no looking up: texts, and evaluators that bring all they need.

They are read in every spelling that their fields have had. Most rows of most files are of this
kind, and runs read them by the ten thousand.
"""

from __future__ import annotations

from typing import cast

import msgspec

from steelyard.contracts.eval_cases.defaults import Defaults
from steelyard.contracts.eval_cases.evaluators import EvaluatorBuilder
from steelyard.contracts.eval_cases.spelling import (
    EVALUATORS,
    GOAL,
    INPUT,
    REFERENCE,
    text_of,
    written,
)
from steelyard.formats.json_fields import items, object_field, optional_text, text_field, text_list
from steelyard.formats.problem import Problem
from steelyard.model.case import Case, Place
from steelyard.model.evaluator import Evaluator
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message, Role
from steelyard.ports import NoFiles

_NOTES = ("name", "description", "notes", "suite", "category")
"""What a row may say that is kept and not used."""
_PLAIN = {
    *(*GOAL, *INPUT, *REFERENCE, *EVALUATORS, *_NOTES),
    *("id", "tags", "metadata", "conversation_id"),
}
_UNUSED = frozenset(_NOTES)
_encode = msgspec.msgpack.Encoder().encode


class PlainCases:
    """Builds the cases of one file, as far as their rows are plain."""

    def __init__(self) -> None:
        self._listed = b""
        self._evaluators: tuple[Evaluator, ...] | None = None

    def case(self, row: JsonObject, defaults: Defaults, place: Place) -> Case | None:
        """The case of a row whose shape has been checked; None where it is not plain."""
        if not row.keys() <= _PLAIN or defaults.input is not None or defaults.input_files:
            return None
        asked = _said(row, INPUT, "user")
        expected = _said(row, REFERENCE, "assistant")
        listed = written(row, EVALUATORS)
        evaluators = self._built(row[listed]) if listed else defaults.evaluators
        if asked is None or expected is None or evaluators is None:
            return None
        return Case(
            id=text_field(row, "id"),
            dataset=defaults.dataset,
            input_messages=asked,
            expected_messages=expected,
            expected_outcome=text_of(row, GOAL),
            conversation_id=optional_text(row, "conversation_id"),
            tags=tuple(text_list(row, "tags")),
            metadata=object_field(row, "metadata"),
            target=defaults.target,
            evaluator=defaults.evaluator,
            evaluators=evaluators,
            extra={name: row[name] for name in row if name in _UNUSED},
            place=place,
        )

    def can_build(self, listed: list[JsonValue]) -> bool:
        """Whether a list of evaluators brings all it needs, and nothing is wrong with it."""
        return self._built(listed) is not None

    def _built(self, listed: JsonValue) -> tuple[Evaluator, ...] | None:
        """The evaluators of a list, which in many files is the same for every row."""
        try:
            # As bytes: 1, 1.0 and true are equal in Python, and different settings.
            written = _encode(listed)
        except (UnicodeEncodeError, OverflowError):
            return None
        if written != self._listed:
            problems: list[Problem] = []
            builder = EvaluatorBuilder(NoFiles(), problems)
            built = builder.evaluators(items(listed), ("evaluators",))
            self._listed, self._evaluators = written, None if problems else built
        return self._evaluators


def _said(row: JsonObject, names: tuple[str, ...], role: Role) -> tuple[Message, ...] | None:
    """What a row says under whichever spelling: a text, or messages of one text each and nothing
    else; None where it says more.
    """
    name = written(row, names)
    said = row[name] if name else []
    if isinstance(said, str):
        return (Message(role=role, content=said),)
    return _messages(said) if isinstance(said, list) else None


def _messages(entries: list[JsonValue]) -> tuple[Message, ...] | None:
    made: list[Message] = []
    for entry in entries:
        if not isinstance(entry, dict) or len(entry) != 2 or "role" not in entry:
            return None
        content = entry.get("content")
        if not isinstance(content, str):
            return None
        made.append(Message(role=cast(Role, entry["role"]), content=content))
    return tuple(made)
