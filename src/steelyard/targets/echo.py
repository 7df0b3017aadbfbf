"""`echo`: answers with the last user message; needs no project file."""

from __future__ import annotations

from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from steelyard.ports import Request


class EchoTarget:
    """Says back what it was asked."""

    def __init__(self, name: str = "echo") -> None:
        self.name = name

    def described(self) -> JsonObject:
        """Its settings."""
        return {"provider": "echo"}

    async def ask(self, request: Request) -> Trace:
        """The last user message, as the assistant's."""
        questions = [text for role, text in request.prompt.messages if role == "user"]
        message = Message(role="assistant", content=questions[-1] if questions else "")
        return Trace(messages=(message,), model="echo", finish_reason="stop")

    async def close(self) -> None:
        """Nothing to let go."""
