"""The bytes of a request's body: as they are sent, and never more than a limit."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from starlette.requests import ClientDisconnect, Request

from steelyard.errors import InvalidError, TooLargeError

_DIGITS = 20
"""A length of more digits is too large, whatever its first ones are."""


async def body_chunks(request: Request, limit: int) -> AsyncGenerator[bytes]:
    """The body as it arrives; an error as soon as it is, or says that it is, too large."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:_DIGITS]) > limit:
        raise _too_large(limit)
    if request.headers.get("content-encoding", "identity") != "identity":
        raise InvalidError("a compressed body is not taken here; send it as it is")
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
