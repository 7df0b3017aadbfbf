"""Files as attachments: whole, in part, or not again to whoever has them."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from steelyard.api.errors import ErrorReply
from steelyard.api.resources.byte_ranges import ByteRange, UnsatisfiableError, asked_range
from steelyard.errors import GoneError

_CHUNK = 256 * 1024
REQUEST_HEADERS = {
    "Range": "The part that is asked for, such as `bytes=0-1023`.",
    "If-Range": "The `ETag` of the file that a range is asked of.",
    "If-None-Match": "The `ETag` of a file that the caller has.",
}
ANSWER_HEADERS = {
    "ETag": "The SHA-256 of the file.",
    "Repr-Digest": "The same, to check what was received.",
    "Accept-Ranges": "`bytes`.",
}


class SentFile(NamedTuple):
    """A file that never changes."""

    name: str
    path: Path
    size: int
    sha256: str


async def attachment(request: Request, file: SentFile, media_type: str) -> Response:
    """The file, or the range of it that is asked for; 304 to whoever has it already."""
    headers = _headers(file)
    if _is_known(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    headers["content-disposition"] = _disposition(file.name)
    part = _part(request, file, headers["etag"])
    if part:
        headers["content-range"] = f"bytes {part.begin}-{part.end - 1}/{file.size}"
    begin, end = part or ByteRange(0, file.size)
    headers["content-length"] = str(end - begin)
    status = 206 if part else 200
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=media_type)
    handle = await anyio.to_thread.run_sync(_opened, file)
    return StreamingResponse(_sent(handle, begin, end), status, headers, media_type=media_type)


def _disposition(name: str) -> str:
    """The name of the file; headers are ASCII, so that any other name is written twice."""
    plain = re.sub(r"[^\w. -]", "_", name, flags=re.ASCII)
    other = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
    return f'attachment; filename="{plain}"{other}'


def _headers(file: SentFile) -> dict[str, str]:
    digest = base64.b64encode(bytes.fromhex(file.sha256)).decode("ascii")
    return {
        "etag": f'"{file.sha256}"',
        "repr-digest": f"sha-256=:{digest}:",
        "accept-ranges": "bytes",
        "cache-control": "private, no-cache",
    }


def _is_known(request: Request, etag: str) -> bool:
    """Whether the caller has the file already."""
    names = request.headers.getlist("if-none-match")
    known = {one.strip().removeprefix("W/") for name in names for one in name.split(",")}
    return not known.isdisjoint({etag, "*"})


def _part(request: Request, file: SentFile, etag: str) -> ByteRange | None:
    """The range that is asked for; None for the whole file, as with another one's `If-Range`."""
    if request.headers.get("if-range", etag) != etag:
        return None
    try:
        return asked_range(request.headers.get("range"), file.size)
    except UnsatisfiableError:
        raise ErrorReply(
            status=416,
            message=f"{file.name} has {file.size:,} bytes, none of them in the range",
            headers={"content-range": f"bytes */{file.size}"},
        ) from None


def _opened(file: SentFile) -> int:
    try:
        return os.open(file.path, os.O_RDONLY)
    except FileNotFoundError:
        raise GoneError(f"{file.name} was removed just now") from None


async def _sent(handle: int, begin: int, end: int) -> AsyncIterator[bytes]:
    """A part of an open file, read in a thread and never held as a whole."""
    try:
        while begin < end:
            data = await anyio.to_thread.run_sync(
                os.pread, handle, min(_CHUNK, end - begin), begin
            )
            if not data:
                return
            begin += len(data)
            yield data
    finally:
        os.close(handle)
