"""The packed body of an HTTP answer, which never unpacks to more than it may."""

from __future__ import annotations

import zlib

from steelyard.errors import TargetError
from steelyard.targets.http_endpoint import MAX_BODY, too_large

ACCEPTED = "gzip, deflate"
_GZIP_OR_ZLIB = 47
_RAW_DEFLATE = -15


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
        raise too_large()
    if not unpacker.eof or unpacker.unused_data:
        raise _damaged()
    return whole


def _damaged() -> TargetError:
    return TargetError("internal_error", "the packed answer is damaged or cut off")
