"""A target that says what a test wrote down for it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Request

Said: TypeAlias = "str | Trace | BaseException"


def trace(text: str, *, latency_ms: float | None = 5.0) -> Trace:
    """A trace of one answer."""
    message = Message(role="assistant", content=text)
    return Trace(
        messages=(message,),
        usage=Usage(input_tokens=10, output_tokens=5),
        latency_ms=latency_ms,
    )


def fails(code: str, *, retry_after_s: float | None = None) -> TargetError:
    """A failure with a code."""
    return TargetError(code, f"{code} on purpose", retry_after_s=retry_after_s)


class ScriptedTarget:
    """Answers each record with the lines of its script, one a call; the last one again and again.

    A record without a script gets `otherwise`.
    """

    def __init__(
        self,
        script: Mapping[str, Sequence[Said]] | None = None,
        *,
        name: str = "scripted",
        otherwise: Said = "yes",
    ) -> None:
        self.name = name
        self.calls: list[Request] = []
        self.is_closed = False
        self.most_at_once = 0
        self.held: asyncio.Event | None = None
        """While it is set to an event, calls wait for that."""
        self._script = script or {}
        self.otherwise = otherwise
        self._made: Counter[tuple[str, int]] = Counter()
        self._at_once = 0

    def described(self) -> JsonObject:
        """Its settings."""
        return {"provider": "scripted"}

    async def ask(self, request: Request) -> Trace:
        """The next line for this record and repeat."""
        self.calls.append(request)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await (self.held.wait() if self.held else asyncio.sleep(0))
            return self._next(request)
        finally:
            self._at_once -= 1

    async def close(self) -> None:
        """Remember it."""
        self.is_closed = True

    def _next(self, request: Request) -> Trace:
        lines = self._script.get(request.case.id, [self.otherwise])
        place = self._made[request.case.id, request.repeat]
        self._made[request.case.id, request.repeat] += 1
        said = lines[min(place, len(lines) - 1)]
        if isinstance(said, BaseException):
            raise said
        return trace(said) if isinstance(said, str) else said
