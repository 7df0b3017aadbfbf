"""The packed body of an HTTP answer, which never unpacks to more than it may."""

from __future__ import annotations

import zlib

from steelyard.errors import TargetError
from steelyard.targets.http_endpoint import MAX_BODY, too_large

ACCEPTED = "gzip, deflate"
_GZIP_OR_ZLIB = 47
_GZIP = 31
_RAW_DEFLATE = -15
_PIECE = 4096


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
    """What one stream holds; gzip may be several in a row, as servers that flush send it."""
    unpacker = zlib.decompressobj(form)
    pieces, left = list[bytes](), MAX_BODY + 1
    # In small pieces, since what follows a stream is copied for each of them.
    for start in range(0, len(data), _PIECE):
        piece = data[start : start + _PIECE]
        while piece:
            if unpacker.eof:
                if form == _RAW_DEFLATE:
                    raise _damaged()
                unpacker = zlib.decompressobj(_GZIP)
            if held := unpacker.decompress(piece, left):
                pieces.append(held)
                left -= len(held)
            if not left:
                raise too_large()
            piece = unpacker.unused_data
    if not unpacker.eof:
        raise _damaged()
    return b"".join(pieces)


def _damaged() -> TargetError:
    return TargetError("internal_error", "the packed answer is damaged or cut off")
