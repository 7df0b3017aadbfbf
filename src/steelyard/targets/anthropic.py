"""`anthropic`: endpoints that speak Anthropic's messages protocol."""

from __future__ import annotations

from typing import cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.trace import Trace
from steelyard.ports import Clock, Prompt, Request
from steelyard.targets.anthropic_message import read_message
from steelyard.targets.anthropic_turns import called_tools, spoken_blocks
from steelyard.targets.http_calls import HttpCalls
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.request_json import request_bytes

DEFAULTS: JsonObject = {"base_url": "https://api.anthropic.com", "max_new_tokens": 1024}
"""Settings that hold where the project file has none; the protocol demands a limit of tokens."""
OPENING = "(The assistant speaks first.)"
"""The protocol demands that a conversation begins with the user."""
_VERSION = "2023-06-01"


class AnthropicTarget:
    """Asks `POST {base_url}/v1/messages`."""

    def __init__(self, name: str, settings: ModelSettings, clock: Clock) -> None:
        self.name = name
        self._settings = settings
        url = settings.base_url.rstrip("/").removesuffix("/v1") + "/v1/messages"
        key = {"x-api-key": settings.api_key} if settings.api_key else {}
        headers = {"anthropic-version": _VERSION, **settings.own_headers, **key}
        self._calls = HttpCalls(settings.http(url, headers), clock)

    def described(self) -> JsonObject:
        """Its settings, without key and header values."""
        return self._settings.described("anthropic")

    async def ask(self, request: Request) -> Trace:
        """One call; every way in which it can fail has an error code."""
        body = {
            "model": self._settings.model,
            **conversation(request.prompt),
            **self._settings.sampling,
        }
        body |= called_tools(request.prompt.turns, body)
        if request.judged and request.judged.is_held:
            shape: JsonObject = {"type": "json_schema", "schema": request.judged.schema}
            body["output_config"] = {"format": shape}
        return await self._calls.ask(request_bytes(body), read_message)

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.close()


def conversation(prompt: Prompt) -> JsonObject:
    """`system` and `messages` as the protocol demands them.

    System messages stand apart, turns of one role in a row become one, the user speaks first.
    """
    if prompt.turns:
        return _with_blocks(prompt)
    system = _system(prompt.messages)
    turns = _turns([(role, text) for role, text in prompt.messages if role != "system"])
    if not turns:
        system, turns = "", [("user", system)]
    if turns[0][0] != "user":
        turns.insert(0, ("user", OPENING))
    return _body([{"role": role, "content": text} for role, text in turns], system)


def _with_blocks(prompt: Prompt) -> JsonObject:
    """The same where there is more than text; a later system message is the system's, too."""
    turns = spoken_blocks(prompt.turns)
    if not turns or turns[0][0] != "user":
        turns.insert(0, ("user", [{"type": "text", "text": OPENING}]))
    messages: list[JsonObject] = [
        {"role": role, "content": cast(list[JsonValue], blocks)} for role, blocks in turns
    ]
    return _body(messages, _system(prompt.messages))


def _system(messages: tuple[tuple[str, str], ...]) -> str:
    return "\n\n".join(text for role, text in messages if role == "system")


def _body(messages: list[JsonObject], system: str) -> JsonObject:
    spoken: JsonObject = {"messages": cast(list[JsonValue], messages)}
    return {"system": system, **spoken} if system else spoken


def _turns(messages: list[tuple[str, str]]) -> list[tuple[str, str]]:
    turns: list[tuple[str, str]] = []
    for role, text in messages:
        if turns and turns[-1][0] == role:
            turns[-1] = (role, f"{turns[-1][1]}\n\n{text}")
        else:
            turns.append((role, text))
    return turns
