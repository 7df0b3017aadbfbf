"""The body of an HTTP answer, never larger than it may be, packed or unpacked."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from steelyard.errors import TargetError

if TYPE_CHECKING:
    from aiohttp import ClientResponse

MAX_BODY = 16 * 1024 * 1024
ACCEPTED = "gzip, deflate"
_GZIP_OR_ZLIB = 47
_RAW_DEFLATE = -15


async def read_body(response: ClientResponse) -> bytes:
    """All bytes of an answer, unpacked; the session must leave unpacking to us."""
    stream = response.content
    data = await stream.read(MAX_BODY + 1)
    if not stream.at_eof():
        whole = bytearray(data)
        while len(whole) <= MAX_BODY and (data := await stream.read(MAX_BODY + 1)):
            whole += data
        data = bytes(whole)
    if len(data) > MAX_BODY:
        raise _too_large()
    encoding = response.headers.get("content-encoding")
    return unpacked(data, encoding) if encoding else data


def unpacked(data: bytes, encoding: str) -> bytes:
    """What a packed body holds; a bomb is refused before it fills the memory."""
    name = encoding.strip().lower()
    if name == "identity":
        return data
    if name not in {"gzip", "x-gzip", "deflate"}:
        raise TargetError("bad_response", f"the answer is packed as '{name}', which was not asked")
    try:
        return _inflated(data, _GZIP_OR_ZLIB)
    except zlib.error:
        # Some servers send `deflate` without the header that the standard demands.
        if name != "deflate":
            raise _damaged() from None
    try:
        return _inflated(data, _RAW_DEFLATE)
    except zlib.error:
        raise _damaged() from None


def _inflated(data: bytes, form: int) -> bytes:
    unpacker = zlib.decompressobj(form)
    whole = unpacker.decompress(data, MAX_BODY + 1)
    if len(whole) > MAX_BODY:
        raise _too_large()
    if not unpacker.eof or unpacker.unused_data:
        raise _damaged()
    return whole


def _too_large() -> TargetError:
    return TargetError("bad_response", f"the answer is larger than {MAX_BODY >> 20} MB")


def _damaged() -> TargetError:
    return TargetError("internal_error", "the packed answer is damaged or cut off")
