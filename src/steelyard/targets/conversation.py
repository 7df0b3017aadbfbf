"""The response that a case brings with it: the last assistant message of its conversation."""

from __future__ import annotations

from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from steelyard.ports import Request, Sought


class ConversationTarget:
    """Answers with what the conversation already says."""

    name = "conversation"

    def described(self) -> JsonObject:
        """Its settings."""
        return {"provider": "conversation"}

    def covers(self, sought: Sought) -> bool:
        """Whether the case has an answer in it; a conversation has one, and no repeats."""
        return sought.repeat == 0 and _last(sought.case) is not None

    async def ask(self, request: Request) -> Trace:
        """The last assistant message."""
        message = _last(request.case)
        if message is None:
            raise TargetError("no_response", f"'{request.case.id}' has no assistant message")
        return Trace(messages=(message,))

    async def close(self) -> None:
        """Nothing to let go."""


def _last(case: Case) -> Message | None:
    said = (message for message in reversed(case.input_messages) if message.role == "assistant")
    return next(said, None)
