"""A chat-completions endpoint in a thread of its own that answers, and judges what it said."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aiohttp import web

from servers.openai_server import COMPLETION, serving

Fault: TypeAlias = Callable[[int], tuple[int, dict[str, Any]] | None]
"""For the number of a call to the judge, the status and body with which it is refused."""
JUDGE_MODEL = "j"
VERDICT = {
    "answers": {"score": {"evidence": "At nine.", "reasoning": "It says when.", "value": 1}}
}


@dataclass
class JudgeEndpoint:
    """Model `m` answers, model `j` judges; both are counted."""

    is_held: bool = True
    """Whether it holds its reply to a schema."""
    said: str = json.dumps(VERDICT)
    """The reply of the judge where nothing holds it."""
    fault: Fault | None = None
    delay_s: float = 0.005
    stuck_after: int | None = None
    """The number of the call to the judge after which none is answered any more."""
    url: str = ""
    calls: Counter[str] = field(default_factory=Counter[str])
    schemas: int = 0
    """How many calls came with a schema."""
    probes: int = 0
    _ready: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """As a target, or as a judge."""
        asked = await request.json()
        self.calls[asked["model"]] += 1
        number = self.calls[JUDGE_MODEL]
        await asyncio.sleep(self.delay_s)
        if asked["model"] != JUDGE_MODEL:
            return web.json_response(COMPLETION)
        if self.stuck_after is not None and number > self.stuck_after:
            await asyncio.to_thread(self._over.wait)
        if self.fault and (refused := self.fault(number)):
            return web.json_response(refused[1], status=refused[0])
        return web.json_response(_completion(self._verdict(asked)))

    def _verdict(self, asked: dict[str, Any]) -> str:
        wanted = asked.get("response_format")
        if not wanted:
            return self.said
        self.schemas += 1
        schema = wanted["json_schema"]["schema"]
        self.probes += "colour" in schema["properties"]
        if not self.is_held:
            return '{"colour": "blue"}' if "colour" in schema["properties"] else self.said
        return json.dumps(conforming(schema))

    async def _serve(self) -> None:
        async with serving(self.answer) as url:
            self.url = url
            self._ready.set()
            await asyncio.to_thread(self._over.wait)

    @contextmanager
    def serving(self) -> Generator[JudgeEndpoint]:
        """While it listens."""
        thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        thread.start()
        self._ready.wait()
        try:
            yield self
        finally:
            self._over.set()
            thread.join()


def conforming(schema: dict[str, Any]) -> Any:
    """A value that fits a schema: the last of an enum, the first alternative."""
    if "enum" in schema:
        return schema["enum"][-1]
    if "anyOf" in schema:
        return conforming(schema["anyOf"][0])
    if schema["type"] == "object":
        return {name: conforming(one) for name, one in schema["properties"].items()}
    return "At nine." if schema["type"] == "string" else 1


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {**COMPLETION, "choices": [{"message": message, "finish_reason": "stop"}]}
