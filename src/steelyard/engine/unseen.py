"""What a judge would have to see and cannot: it is told texts alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from steelyard.errors import TargetError
from steelyard.formats.mustache_tags import names_in
from steelyard.model.case import Case
from steelyard.model.message import Message, OtherBlock
from steelyard.model.trace import Trace
from steelyard.model.unsent import named

_ASKED = frozenset(("input", "input_messages", "question"))
_ANSWERED = frozenset(("output", "output_messages", "candidate_answer"))
_SENSED = ("image", "audio", "video")


class Unseen(NamedTuple):
    """The first block without a text in what was asked, and in what was answered."""

    asked: str = ""
    answered: str = ""

    def require_seen(self, template: str) -> None:
        """Refuse a judge whose template shows what it cannot be shown."""
        if not (self.asked or self.answered):
            return
        names = names_in(template)
        found = self.asked if names & _ASKED else ""
        found = found or (self.answered if names & _ANSWERED else "")
        if found:
            raise TargetError("unsupported_field", f"a judge cannot be shown {found}")


def unseen(case: Case, trace: Trace) -> Unseen:
    """What of a record no text stands for.

    Of an answer, images and sounds alone: what else a model adds, such as its reasoning, is kept
    for people and is no part of what it says.
    """
    sensed = (
        block
        for block in _blocks(trace.messages)
        if str(block.data.get("type", "")).startswith(_SENSED)
    )
    return Unseen(_first(_blocks(case.input_messages)), _first(sensed))


def _blocks(messages: Iterable[Message]) -> Iterable[OtherBlock]:
    for message in messages:
        if isinstance(message.content, tuple):
            yield from (block for block in message.content if isinstance(block, OtherBlock))


def _first(blocks: Iterable[OtherBlock]) -> str:
    return next((named(block) for block in blocks), "")
