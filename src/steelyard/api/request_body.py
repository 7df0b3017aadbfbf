"""The bytes of a request's body: as they are sent, and never more than a limit."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator

from starlette.requests import ClientDisconnect, Request

from steelyard.errors import InvalidError, TooLargeError

_GZIP = 16 + zlib.MAX_WBITS
_DIGITS = 20
"""A length of more digits is too large, whatever its first ones are."""


async def body_chunks(request: Request, limit: int) -> AsyncGenerator[bytes]:
    """The body as it arrives; an error as soon as it is, or says that it is, too large."""
    if _encoding(request) != "identity":
        raise InvalidError("a compressed body is not taken here; send it as it is")
    async for chunk in _sent_chunks(request, limit):
        yield chunk


async def unpacked_body(request: Request, limit: int) -> bytes:
    """A body that may be compressed with gzip; the limit is for what it unpacks to as well."""
    encoding = _encoding(request)
    if encoding not in {"identity", "gzip"}:
        raise InvalidError(f"a body may be compressed with gzip, not with '{encoding[:100]}'")
    found, unpacking = bytearray(), _Unpacking() if encoding == "gzip" else None
    async for chunk in _sent_chunks(request, limit):
        found += unpacking.unpack(chunk, limit + 1 - len(found)) if unpacking else chunk
        if len(found) > limit:
            raise _too_large(limit)
    if unpacking and not unpacking.is_whole:
        raise InvalidError("the body is not whole: its gzip stream has no end")
    return bytes(found)


class _Unpacking:
    """A gzip stream on its way, of which never more is unpacked than is asked for."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_GZIP)

    @property
    def is_whole(self) -> bool:
        return self._stream.eof

    def unpack(self, data: bytes, most: int) -> bytes:
        """The next bytes; what follows the end of the stream belongs to nothing."""
        if self._stream.eof:
            return b""
        try:
            return self._stream.decompress(data, most)
        except zlib.error:
            raise InvalidError(
                "the body is not compressed with gzip, as its header says"
            ) from None


def _encoding(request: Request) -> str:
    return request.headers.get("content-encoding", "identity").strip().lower() or "identity"


async def _sent_chunks(request: Request, limit: int) -> AsyncGenerator[bytes]:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:_DIGITS]) > limit:
        raise _too_large(limit)
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            yield chunk
    except ClientDisconnect:
        raise InvalidError("the body ended before it was whole") from None


def _too_large(limit: int) -> TooLargeError:
    return TooLargeError(f"the body has more than {limit:,} bytes")
