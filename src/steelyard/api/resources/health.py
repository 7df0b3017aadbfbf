"""Endpoints for whoever operates a server: is it alive, is it ready."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.errors import UnavailableError
from steelyard.usecases.operations.readiness import require_ready


class Alive(msgspec.Struct, frozen=True):
    """What a server says of itself."""

    status: str
    """`ok`, or `ready`."""


def _alive(_call: Call[NoQuery, None]) -> JsonReply:
    return JsonReply(body=Alive("ok"))


def _ready(call: Call[NoQuery, None]) -> JsonReply:
    """Whether runs can be read and made."""
    if call.served.stopping.is_set():
        raise UnavailableError("the server stops")
    require_ready(call.project.condition)
    return JsonReply(body=Alive("ready"))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/healthz",
        summary="Liveness: the process answers.",
        scope=None,
        handle=_alive,
        answers={200: Alive},
        is_quick=True,
    ),
    Operation(
        method="GET",
        path="/readyz",
        summary="Readiness: the store answers and has our schema, and the disk has room.",
        scope=None,
        handle=_ready,
        answers={200: Alive},
        errors=(503,),
    ),
)
