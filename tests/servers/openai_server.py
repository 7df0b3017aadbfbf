"""A chat-completions endpoint on loopback that answers as a test demands, faults included."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from aiohttp import web

Answer: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
COMPLETION: dict[str, Any] = {
    "id": "chatcmpl-1",
    "model": "m-1-exact",
    "choices": [
        {"message": {"role": "assistant", "content": "At nine."}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3},
}
JSON = "application/json"


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[str]:
    """The base URL of an endpoint that gives one answer to every request."""
    app = web.Application(client_max_size=1 << 26)
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port: int = runner.addresses[0][1]
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        await runner.cleanup()


def says(value: object, status: int = 200, **headers: str) -> Answer:
    """A JSON value; underscores in the names of headers stand for hyphens."""
    return sends(json.dumps(value).encode("utf-8"), status, JSON, **headers)


def sends(data: bytes, status: int = 200, kind: str = JSON, **headers: str) -> Answer:
    """Bytes as they are."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=data, status=status, headers={"content-type": kind, **named})

    return answer


def packs(data: bytes) -> Answer:
    """Bytes as gzip."""
    return sends(gzip.compress(data, mtime=0), content_encoding="gzip")


async def resets(request: web.Request) -> web.StreamResponse:
    """Closes the connection without a word."""
    assert request.transport
    request.transport.abort()
    return web.Response()


async def hangs(_request: web.Request) -> web.StreamResponse:
    """Never sends a header."""
    await asyncio.Event().wait()
    return web.Response()


async def trickles(request: web.Request) -> web.StreamResponse:
    """Sends a byte now and then, and so never lets the line fall silent."""
    response = web.StreamResponse()
    response.content_length = 1_000_000
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.02)


async def floods(request: web.Request) -> web.StreamResponse:
    """Sends without end."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" " * 65536)


async def cuts_off(request: web.Request) -> web.StreamResponse:
    """Promises more than it sends."""
    response = web.StreamResponse()
    response.content_length = 1000
    await response.prepare(request)
    await response.write(b'{"choices": [')
    assert request.transport
    request.transport.close()
    return response
