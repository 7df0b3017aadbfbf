"""`openai`: any endpoint that speaks the chat-completions protocol."""

from __future__ import annotations

from steelyard.model.json_value import JsonObject
from steelyard.model.trace import Trace
from steelyard.ports import Clock, Judged, Request
from steelyard.targets.completion import read_completion, read_with_logprobs
from steelyard.targets.http_calls import HttpCalls
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.openai_turns import openai_messages
from steelyard.targets.request_json import messages_of, request_bytes

TOP_LOGPROBS = 20
"""The most that the protocol allows."""


class OpenAITarget:
    """Asks `POST {base_url}/chat/completions`."""

    def __init__(self, name: str, settings: ModelSettings, clock: Clock) -> None:
        self.name = name
        self._settings = settings
        url = settings.base_url.rstrip("/") + "/chat/completions"
        key = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self._calls = HttpCalls(settings.http(url, {**settings.own_headers, **key}), clock)

    def described(self) -> JsonObject:
        """Its settings, without key and header values."""
        return self._settings.described("openai")

    async def ask(self, request: Request) -> Trace:
        """One call; every way in which it can fail has an error code."""
        judged = request.judged
        read = read_with_logprobs if judged and judged.wants_logprobs else read_completion
        return await self._calls.ask(self._body(request), read)

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.close()

    def _body(self, request: Request) -> bytes:
        turns = request.prompt.turns
        messages = openai_messages(turns) if turns else messages_of(request)
        more = _judged(request.judged) if request.judged else {}
        return request_bytes(
            {
                "model": self._settings.model,
                "messages": messages,
                **self._settings.sampling,
                **more,
            }
        )


def _judged(judged: Judged) -> JsonObject:
    """What a call to a judge asks for beside the prompt."""
    asked: JsonObject = {}
    if judged.is_held:
        shape: JsonObject = {"name": "answer", "strict": True, "schema": judged.schema}
        asked["response_format"] = {"type": "json_schema", "json_schema": shape}
    if judged.wants_logprobs:
        asked.update({"logprobs": True, "top_logprobs": TOP_LOGPROBS})
    return asked
