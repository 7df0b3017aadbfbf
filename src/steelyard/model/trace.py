"""What a target did for a case."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from msgspec import field

from steelyard.model.frozen_struct import FrozenStruct, SourcedStruct
from steelyard.model.json_value import Extra, no_extra
from steelyard.model.message import Message
from steelyard.model.plausible import cost_usd


class Usage(FrozenStruct, frozen=True, kw_only=True):
    """Tokens that went in and came out, where the target counted them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    extra: Extra = field(default_factory=no_extra)

    @property
    def total_tokens(self) -> int | None:
        """Both counts together; None unless both are known."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


class Served(NamedTuple):
    """What an endpoint said of a call beside its answer."""

    http_status: int
    request_id: str | None


class Trace(SourcedStruct, frozen=True, kw_only=True):
    """Messages, tool calls, usage and timing of one answer."""

    source_field: ClassVar[str] = "served"

    messages: tuple[Message, ...] = ()
    usage: Usage = Usage()
    latency_ms: float | None = None
    first_token_ms: float | None = None
    """Until a streamed answer began; None where it was not streamed."""
    finish_reason: str | None = None
    refusal: str | None = None
    model: str | None = None
    extra: Extra = field(default_factory=no_extra)
    served: Served | None = None
    """Belongs to the call, whose attempt keeps it, and not to what was said."""

    @property
    def response(self) -> str:
        """The text of the last assistant message, empty when there is none."""
        for message in reversed(self.messages):
            if message.role == "assistant" and message.content is not None:
                return message.text
        return ""

    @property
    def cost_usd(self) -> float | None:
        """What the answer cost, where the target says it or whoever graded worked it out."""
        return cost_usd(self.extra.get("cost_usd"))
