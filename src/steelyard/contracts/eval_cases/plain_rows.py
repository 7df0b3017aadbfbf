"""Rows that are seen to be right while they are parsed, without a look at the schema.

Most rows of most files are texts and a list of evaluators, in whichever spelling. Whatever is not
of this kind, or not certainly right, is left to the schema; evaluators are looked at by what it
says of their type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from steelyard.contracts.eval_cases.spelling import listed_evaluators
from steelyard.formats.json_fields import fields
from steelyard.formats.schema import BLANK
from steelyard.formats.schema_by_type import SchemaByType
from steelyard.model.json_value import JsonValue
from steelyard.model.message import Role

_OBJECT = 0x7B  # {
_LIST = 0x5B  # [
_NOTHING = Raw()


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    role: Role
    content: str


_Messages: TypeAlias = Annotated[list[_Message], msgspec.Meta(min_length=1)]


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    """A row of texts, with every spelling that its fields have had."""

    id: str
    expected_outcome: str | UnsetType = UNSET
    outcome: str | UnsetType = UNSET
    criteria: str | UnsetType = UNSET
    input_messages: _Messages | UnsetType = UNSET
    input: str | _Messages | UnsetType = UNSET
    expected_messages: list[_Message] | UnsetType = UNSET
    expected_output: str | UnsetType = UNSET
    conversation_id: str = ""
    evaluators: Raw = _NOTHING
    assert_: Raw = msgspec.field(default=_NOTHING, name="assert")
    assertions: Raw = _NOTHING
    tags: list[str] = []
    metadata: Raw = _NOTHING
    name: Raw = _NOTHING
    description: Raw = _NOTHING
    notes: Raw = _NOTHING
    suite: Raw = _NOTHING
    category: Raw = _NOTHING


_read = msgspec.json.Decoder(_Row).decode


class PlainRows:
    """Looks at the rows of one file.

    Lists of evaluators with any of the given marks are plain only where they can be built.
    """

    def __init__(
        self,
        evaluators: SchemaByType,
        telling: tuple[bytes, ...],
        can_build: Callable[[list[JsonValue]], bool],
    ) -> None:
        self._schema = evaluators
        self._telling = telling
        self._can_build = can_build
        self._known = b""
        """The last list of evaluators that was found to be right."""

    def has(self, text: bytes, value: JsonValue) -> bool:
        """Whether a row, as text and parsed, is plain and has no problem of any kind."""
        try:
            row = _read(text)
        except msgspec.MsgspecError:
            return False
        if not row.id.strip(BLANK) or not _is_asked(row):
            return False
        if len(row.metadata) and memoryview(row.metadata)[0] != _OBJECT:
            return False
        listed = [one for one in (row.evaluators, row.assert_, row.assertions) if len(one)]
        return not listed or (len(listed) == 1 and self._is_right(bytes(listed[0]), value))

    def _is_right(self, listed: bytes, value: JsonValue) -> bool:
        if listed == self._known:
            return True
        found = listed_evaluators(fields(value))
        if listed[0] != _LIST or found is None or not all(map(self._schema.is_clean, found[1])):
            return False
        if is_marked(listed, self._telling) and not self._can_build(found[1]):
            return False
        self._known = listed
        return True


def is_marked(text: bytes, marks: tuple[bytes, ...]) -> bool:
    """Whether a text has any of several marks."""
    # A loop, and no `in`: the searches are so short that either would double their time.
    find = text.find
    for mark in marks:  # noqa: SIM110
        if find(mark) >= 0:
            return True
    return False


def _is_asked(row: _Row) -> bool:
    """Whether a row says in one spelling what to ask, what is good, and how it may look."""
    goals = [one for one in (row.expected_outcome, row.outcome, row.criteria) if one is not UNSET]
    if len(goals) != 1 or not goals[0].strip(BLANK):
        return False
    if (row.input_messages is UNSET) is (row.input is UNSET):
        return False
    if isinstance(row.input, str) and not row.input.strip(BLANK):
        return False
    return row.expected_messages is UNSET or row.expected_output is UNSET
