"""The protocol's answers: what was taken, or why nothing was, in the encoding of the request."""

from __future__ import annotations

import json
from typing import Literal, TypeAlias

Encoding: TypeAlias = Literal["json", "protobuf"]
_RPC_CODES = {
    400: 3,  # INVALID_ARGUMENT
    401: 16,  # UNAUTHENTICATED
    403: 7,  # PERMISSION_DENIED
    404: 5,  # NOT_FOUND
    408: 4,  # DEADLINE_EXCEEDED
    413: 8,  # RESOURCE_EXHAUSTED
    429: 8,
    500: 13,  # INTERNAL
    503: 14,  # UNAVAILABLE
}
_UNKNOWN = 2


def taken(encoding: Encoding, rejected: int = 0, message: str = "") -> bytes:
    """An `ExportTraceServiceResponse`: of a batch that was taken whole, an empty one."""
    if encoding == "json":
        # Protobuf's JSON writes 64-bit numbers as texts.
        partial = {"rejectedSpans": str(rejected), "errorMessage": message}
        return json.dumps({"partialSuccess": partial} if message else {}).encode("utf-8")
    if not message:
        return b""
    return _field(1, _number(1, rejected) + _field(2, message.encode("utf-8")))


def refused(encoding: Encoding, status: int, message: str) -> bytes:
    """The `google.rpc.Status` of an error."""
    code = _RPC_CODES.get(status, _UNKNOWN)
    if encoding == "json":
        return json.dumps({"code": code, "message": message}).encode("utf-8")
    return _number(1, code) + _field(2, message.encode("utf-8"))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value) if value else b""


def _field(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
