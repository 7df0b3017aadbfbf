"""The cases of rows that need no looking up: texts, and evaluators that bring all they need.

Most rows of most files are of this kind, and runs read them by the ten thousand.
"""

from __future__ import annotations

from typing import cast

import msgspec

from steelyard.contracts.eval_cases.defaults import Defaults
from steelyard.contracts.eval_cases.evaluators import EvaluatorBuilder
from steelyard.formats.json_fields import items, object_field, optional_text, text_field, text_list
from steelyard.formats.problem import Problem
from steelyard.model.case import Case, Place
from steelyard.model.evaluator import Evaluator
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message, Role
from steelyard.ports import NoFiles

_PLAIN = {
    *("id", "input_messages", "expected_outcome", "evaluators"),
    *("tags", "metadata", "conversation_id"),
}
_encode = msgspec.msgpack.Encoder().encode


class PlainCases:
    """Builds the cases of one file, as far as their rows are plain."""

    def __init__(self) -> None:
        self._listed = b""
        self._evaluators: tuple[Evaluator, ...] | None = None

    def case(self, row: JsonObject, defaults: Defaults, place: Place) -> Case | None:
        """The case of a row whose shape has been checked; None where it is not plain."""
        if not row.keys() <= _PLAIN:
            return None
        asked = _messages(row["input_messages"])
        evaluators = self._built(row["evaluators"]) if "evaluators" in row else defaults.evaluators
        if asked is None or evaluators is None:
            return None
        return Case(
            id=text_field(row, "id"),
            dataset=defaults.dataset,
            input_messages=asked,
            expected_outcome=text_field(row, "expected_outcome", ""),
            conversation_id=optional_text(row, "conversation_id"),
            tags=tuple(text_list(row, "tags")),
            metadata=object_field(row, "metadata"),
            target=defaults.target,
            evaluator=defaults.evaluator,
            evaluators=evaluators,
            place=place,
        )

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


def _messages(entries: JsonValue) -> tuple[Message, ...] | None:
    """Messages that say one text each, and nothing else."""
    if not isinstance(entries, list):
        return None
    made: list[Message] = []
    for entry in entries:
        if not isinstance(entry, dict) or len(entry) != 2:
            return None
        role, content = entry["role"], entry.get("content")
        if not isinstance(content, str):
            return None
        made.append(Message(role=cast(Role, role), content=content))
    return tuple(made)
