"""The trace that a case brings with it: its conversation up to the last assistant message."""

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
        return sought.repeat == 0 and bool(_recorded(sought.case))

    async def ask(self, request: Request) -> Trace:
        """The conversation; what counts as the response is the last assistant message."""
        messages = _recorded(request.case)
        if not messages:
            raise TargetError("no_response", f"'{request.case.id}' has no assistant message")
        return Trace(messages=messages)

    async def close(self) -> None:
        """Nothing to let go."""


def _recorded(case: Case) -> tuple[Message, ...]:
    """The messages up to the last one of the assistant; none without one."""
    messages = case.input_messages
    answers = [place for place, message in enumerate(messages) if message.role == "assistant"]
    return messages[: answers[-1] + 1] if answers else ()
