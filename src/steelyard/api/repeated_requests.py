"""Requests with an `Idempotency-Key`: the first is served, and its repeats get the same answer."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any

import anyio.to_thread
import msgspec
from starlette.requests import Request

from steelyard.api.call import Call, JsonReply
from steelyard.errors import InvalidError, RequestInProgressError
from steelyard.model.names import require_name

IDEMPOTENCY_KEY = {
    "Idempotency-Key": "Requests of one caller with one key are served once in 24 hours; a repeat "
    "gets the answer of the first."
}
"""The header, as operations that read it declare it."""
_PATIENCE_S = 25.0
"""How long a repeat waits for the answer of the first request: clients wait longer."""
_PAUSES_S = (0.05, 0.1, 0.2, 0.5)


async def answer_once(
    call: Call[Any, Any],
    content_sha256: str,
    make: Callable[[str], JsonReply],
    threads: Executor | None = None,
) -> JsonReply:
    """The answer that `make` gives in a thread; a repeat of the request gets it again.

    `make` takes the id of the run that it may create. A repeat that comes after the server was
    killed gets the id that the first request got.
    """
    key = _idempotency_key(call.request)
    answer = partial(_answer, call, key, content_sha256, make)
    deadline, tried = time.monotonic() + _PATIENCE_S, 0
    while True:
        try:
            if threads is None:
                return await anyio.to_thread.run_sync(answer)
            return await asyncio.get_running_loop().run_in_executor(threads, answer)
        except RequestInProgressError:
            pause_s = _PAUSES_S[min(tried, len(_PAUSES_S) - 1)]
            tried += 1
            if time.monotonic() > deadline or await call.served.stopping.wait(pause_s):
                raise


def _idempotency_key(request: Request) -> str | None:
    given = request.headers.getlist("idempotency-key")
    if len(given) > 1:
        raise InvalidError("a request has at most one Idempotency-Key header")
    for key in given:
        require_name("Idempotency-Key", key)
    return given[0] if given else None


def _answer(
    call: Call[Any, Any], key: str | None, content_sha256: str, make: Callable[[str], JsonReply]
) -> JsonReply:
    run_id = call.project.run_ports().new_run_id()
    if key is None:
        return make(run_id)
    keys, url = call.project.idempotency, call.request.url
    asked = hashlib.sha256(f"{content_sha256} {url.path}?{url.query}".encode()).hexdigest()
    route: str = call.request.scope["state"]["route"]
    name = keys.name(call.identity.actor, f"{call.request.method} {route}", key)
    kept = keys.begin(name, asked, run_id.encode())
    if kept.status is not None:
        return JsonReply(body=msgspec.json.decode(kept.body), status=kept.status)
    try:
        made = make(kept.body.decode())
    except BaseException:
        keys.give_up(name)
        raise
    # What is wrong with records may repeat their texts, which are not stored as they are.
    keys.finish(name, made.status, call.project.redactor()(msgspec.json.encode(made.body)))
    return made
