"""`openai`: any endpoint that speaks the chat-completions protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import msgspec

from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.trace import Trace
from steelyard.ports import Clock, Request
from steelyard.targets.completion import read_completion, refusal_text
from steelyard.targets.http_endpoint import HttpEndpoint, Reply
from steelyard.targets.response_body import ACCEPTED, unpacked
from steelyard.targets.retry_after import retry_after_s

_STATUS_CODES = {
    408: "timeout",
    504: "timeout",
    429: "rate_limited",
    502: "service_unavailable",
    503: "service_unavailable",
    529: "service_unavailable",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
}
_MIN_SECRET = 8
_MAX_MESSAGE = 400
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISettings:
    """Where the endpoint is and how it is asked."""

    base_url: str
    model: str
    api_key: str | None = None
    headers: Mapping[str, str]
    sampling: JsonObject
    timeout_s: float = 60.0
    max_concurrency: int = 16


class OpenAITarget:
    """Asks `POST {base_url}/chat/completions`."""

    def __init__(self, name: str, settings: OpenAISettings, clock: Clock) -> None:
        self.name = name
        self._settings = settings
        self._clock = clock
        self._slots = asyncio.Semaphore(settings.max_concurrency)
        url = settings.base_url.rstrip("/") + "/chat/completions"
        self._endpoint = HttpEndpoint(url, _headers(settings), settings.timeout_s)

    def described(self) -> JsonObject:
        """Its settings, without key and header values."""
        settings = self._settings
        return {
            "provider": "openai",
            "base_url": settings.base_url,
            "model": settings.model,
            "timeout_s": settings.timeout_s,
            "headers": cast(list[JsonValue], sorted(settings.headers)),
            **settings.sampling,
        }

    async def ask(self, request: Request) -> Trace:
        """One call; every way in which it can fail has an error code."""
        body = self._body(request)
        # Waiting for one's turn is no part of the call: neither of its time nor of its deadline.
        async with self._slots:
            started = self._clock.monotonic()
            reply = await self._reply(body)
            latency_ms = (self._clock.monotonic() - started) * 1000
        if reply.status // 100 != 2:
            raise self._refusal(reply)
        try:
            return read_completion(reply.data, latency_ms)
        except TargetError as error:
            raise self._error(error.code, str(error), reply) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    def _body(self, request: Request) -> bytes:
        try:
            return _encode(
                {
                    "model": self._settings.model,
                    "messages": [
                        {"role": role, "content": text} for role, text in request.prompt.messages
                    ],
                    **self._settings.sampling,
                }
            )
        except UnicodeEncodeError:
            raise TargetError("bad_request", "the prompt holds half a character") from None

    async def _reply(self, body: bytes) -> Reply:
        try:
            reply = await self._endpoint.post(body)
        except TargetError as error:
            raise self._error(error.code, str(error)) from None
        encoding = reply.headers.get("content-encoding")
        return reply._replace(data=unpacked(reply.data, encoding)) if encoding else reply

    def _refusal(self, reply: Reply) -> TargetError:
        status = reply.status
        code = _STATUS_CODES.get(status) or ("internal_error" if status >= 500 else "bad_request")
        said = refusal_text(reply.data)
        if status // 100 == 3:
            said = f"redirects to {reply.headers.get('location')}, which is not followed"
        return self._error(code, f"HTTP {status}: {said}" if said else f"HTTP {status}", reply)

    def _error(self, code: str, message: str, reply: Reply | None = None) -> TargetError:
        """An error whose message shows no secret, even where the endpoint repeats one."""
        # Cut only afterwards: half a secret would not be found.
        key = self._settings.api_key
        for secret in (*((key,) if key else ()), *self._settings.headers.values()):
            if len(secret) >= _MIN_SECRET:
                message = message.replace(secret, "[redacted]")
        message = message[:_MAX_MESSAGE]
        if reply is None:
            return TargetError(code, message)
        return TargetError(
            code,
            message,
            http_status=reply.status,
            retry_after_s=retry_after_s(reply.headers.get("retry-after"), self._clock.now()),
            request_id=reply.headers.get("x-request-id"),
        )


def _headers(settings: OpenAISettings) -> dict[str, str]:
    headers = {name.lower(): value for name, value in settings.headers.items()}
    headers |= {"content-type": "application/json", "accept-encoding": ACCEPTED}
    if settings.api_key:
        headers["authorization"] = f"Bearer {settings.api_key}"
    return headers
