"""Stand-ins for model services: each takes and answers what its service documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from servers.anthropic_server import MESSAGE
from servers.openai_server import COMPLETION
from servers.responses_server import RESPONSE, response_events
from servers.streams import Events, chat_events, message_events, streams, written

KEY = "canary-1234567890"
_SAFE = {"hate": {"filtered": False, "severity": "safe"}}
_CHAT = {
    *("model", "messages", "temperature", "top_p", "max_tokens", "seed", "response_format"),
    *("tools", "stream", "stream_options", "reasoning_effort"),
}


@dataclass(frozen=True, kw_only=True)
class Service:
    """One of them."""

    path: str
    headers: Mapping[str, str]
    """What every request must have."""
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    model: str
    takes: frozenset[str] = frozenset(_CHAT)
    """The members of a body that it knows; others are refused."""
    refusal: Any
    """What it says to a wrong request; `{}` stands for what is wrong."""
    before: Events = field(default_factory=Events)
    """What a stream of it has before the answer."""
    after: Events = field(default_factory=Events)
    """What it has before the end."""
    kind: str = "chat"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """As the service: a wrong address, key or member is refused, in its own words."""
        body = await request.json()
        if request.path != self.path or dict(request.query) != dict(self.query):
            return self._refused(404, f"{request.path_qs} is not here")
        if any(request.headers.get(name) != value for name, value in self.headers.items()):
            return self._refused(401, "the key is wrong")
        if body["model"] != self.model:
            return self._refused(404, f"no model {body['model']}")
        if unknown := sorted(body.keys() - self.takes):
            return self._refused(400, f"unknown member {unknown[0]}")
        if body.get("stream"):
            return await streams(written(self._events(), "\r\n"))(request)
        return web.json_response(self._whole())

    def _refused(self, status: int, said: str) -> web.Response:
        text = json.dumps(self.refusal).replace("{}", said)
        return web.Response(status=status, text=text, content_type="application/json")

    def _whole(self) -> dict[str, Any]:
        whole = {"chat": COMPLETION, "messages": MESSAGE, "responses": RESPONSE}[self.kind]
        return {**whole, "model": self.model}

    def _events(self) -> Events:
        if self.kind != "chat":
            made = message_events if self.kind == "messages" else response_events
            return made(self._whole())
        *events, last = chat_events(self._whole())
        return [*self.before, *events, *self.after, last]


def bearer(key: str = KEY) -> dict[str, str]:
    """A key as most take it."""
    return {"authorization": f"Bearer {key}"}


_OPENAI = {
    "error": {"message": "{}", "type": "invalid_request_error", "param": None, "code": None}
}
_BESIDE = {"id": "", "model": "", "object": "", "created": 0}
_VERDICT = {"index": 0, "finish_reason": None, "content_filter_results": _SAFE}
_FILTER: Events = [("", {**_BESIDE, "choices": [], "prompt_filter_results": [_SAFE]})]
_FILTERED: Events = [("", {**_BESIDE, "choices": [_VERDICT]})]
_AZURE: dict[str, Any] = {
    "refusal": {"error": {"code": "DeploymentNotFound", "message": "{}"}},
    "before": _FILTER,
    "after": _FILTERED,
}
SERVICES: dict[str, Service] = {
    "gpt": Service(
        path="/v1/chat/completions", headers=bearer(), model="gpt-4.1-mini", refusal=_OPENAI
    ),
    "thinking": Service(
        path="/v1/responses",
        headers=bearer(),
        model="gpt-5-mini",
        takes=frozenset({"model", "input", "store", "stream", "max_output_tokens", "reasoning"}),
        refusal=_OPENAI,
        kind="responses",
    ),
    "azure": Service(
        path="/openai/v1/chat/completions", headers=bearer(), model="my-deployment", **_AZURE
    ),
    "azure_by_version": Service(
        path="/openai/deployments/my-deployment/chat/completions",
        headers={"api-key": KEY},
        query={"api-version": "2024-10-21"},
        model="my-deployment",
        **_AZURE,
    ),
    "claude": Service(
        path="/v1/messages",
        headers={"x-api-key": KEY, "anthropic-version": "2023-06-01"},
        model="claude-haiku-4-5",
        takes=frozenset({"model", "messages", "max_tokens", "stream"}),
        refusal={"type": "error", "error": {"type": "invalid_request_error", "message": "{}"}},
        kind="messages",
    ),
    "gemini": Service(
        path="/v1beta/openai/chat/completions",
        headers=bearer(),
        model="gemini-2.5-flash",
        refusal=[{"error": {"code": 400, "message": "{}", "status": "INVALID_ARGUMENT"}}],
    ),
    "bedrock": Service(
        path="/openai/v1/chat/completions",
        headers=bearer(),
        model="openai.gpt-oss-20b-1:0",
        refusal=_OPENAI,
    ),
    "vllm": Service(
        path="/v1/chat/completions",
        headers={},
        model="Qwen/Qwen3-0.6B",
        takes=frozenset({*_CHAT, "top_k", "chat_template_kwargs"}),
        refusal={"object": "error", "message": "{}", "type": "BadRequestError", "code": 400},
    ),
    "ollama": Service(
        path="/v1/chat/completions",
        headers={},
        model="llama3.2",
        refusal={"error": {"message": "{}", "type": "api_error", "param": None, "code": None}},
    ),
    "litellm": Service(
        path="/v1/chat/completions",
        headers=bearer(),
        model="my-alias",
        refusal={"error": {"message": "litellm.BadRequestError: {}", "type": None, "code": "400"}},
    ),
    "openrouter": Service(
        path="/api/v1/chat/completions",
        headers=bearer(),
        model="openai/gpt-4.1-mini",
        takes=frozenset({*_CHAT, "provider"}),
        refusal={"error": {"code": 400, "message": "{}"}},
    ),
}
"""By the names of the targets in the recipes."""
