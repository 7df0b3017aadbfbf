"""Rows that are seen to be right while they are parsed, without a look at the schema.

Most rows of most files are texts and one list of evaluators, the same in every row. Whatever is
not of this kind, or not certainly right, is left to the schema.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from steelyard.formats.json_fields import fields
from steelyard.formats.schema import BLANK, Schema
from steelyard.model.json_value import JsonValue
from steelyard.model.message import Role

_OBJECT = 0x7B  # {


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    role: Role
    content: str


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    expected_outcome: str
    input_messages: Annotated[list[_Message], msgspec.Meta(min_length=1)]
    conversation_id: str = ""
    evaluators: msgspec.Raw = msgspec.Raw()
    tags: list[str] = []
    metadata: msgspec.Raw = msgspec.Raw()


_read = msgspec.json.Decoder(_Row).decode


class PlainRows:
    """Looks at the rows of one file; what marks a list of evaluators as not plain is given."""

    def __init__(self, evaluators: Schema, telling: tuple[bytes, ...]) -> None:
        self._schema = evaluators
        self._telling = telling
        self._known = b""
        """The last list of evaluators that was found to be right."""

    def has(self, text: bytes, value: JsonValue) -> bool:
        """Whether a row, as text and parsed, is plain and has no problem of any kind."""
        try:
            row = _read(text)
        except msgspec.MsgspecError:
            return False
        if not row.id.strip(BLANK) or not row.expected_outcome.strip(BLANK):
            return False
        if len(row.metadata) and memoryview(row.metadata)[0] != _OBJECT:
            return False
        return not len(row.evaluators) or self._is_right(bytes(row.evaluators), value)

    def _is_right(self, listed: bytes, value: JsonValue) -> bool:
        if listed == self._known:
            return True
        if any(mark in listed for mark in self._telling):
            return False
        if not self._schema.is_clean(fields(value)["evaluators"]):
            return False
        self._known = listed
        return True
