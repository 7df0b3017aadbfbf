"""The files of a run: listed, and sent as attachments, whole or in part.

A file is sent only as it was sealed: it is hashed when it is first asked for, and again when its
size or times have changed. One that differs from its seal is a conflict.
"""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from steelyard.api.byte_ranges import ByteRange, UnsatisfiableError, asked_range
from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.errors import ErrorReply
from steelyard.api.operation import Operation
from steelyard.api.paging import Page
from steelyard.errors import GoneError
from steelyard.usecases.results.sealed_files import SealedFile, list_files, sealed_file

_CHUNK = 256 * 1024
_FILES = "application/json application/x-ndjson"
MediaType: TypeAlias = Literal["application/json", "application/x-ndjson"]


class ArtifactBody(msgspec.Struct, frozen=True):
    """A file of a run."""

    name: str
    size: int
    sha256: str
    media_type: MediaType
    pruned_at: str | None
    """When it was removed after its retention; None where it can be fetched."""


def _list(call: Call[NoQuery, None]) -> JsonReply:
    """The files are written when a run ends. Those that were pruned are listed as well."""
    files = list_files(call.project.result_ports(), call.path["run_id"])
    found = [
        ArtifactBody(
            file.name, file.seal.size, file.seal.sha256, _media_type(file.name), file.pruned_at
        )
        for file in files
    ]
    return JsonReply(body=Page(found, None))


async def _fetch(call: Call[NoQuery, None]) -> Response:
    """The file as it was sealed, as an attachment.

    `ETag` is the sealed SHA-256. A range can be asked for; several at once are answered with the
    whole file. A file that was changed after it was sealed is a conflict.
    """
    ports = call.project.result_ports()
    file = await anyio.to_thread.run_sync(
        sealed_file, ports, call.path["run_id"], call.path["artifact"]
    )
    headers = _headers(file)
    if _is_known(call.request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    headers["content-disposition"] = f'attachment; filename="{file.name}"'
    part = _part(call.request, file, headers["etag"])
    if part:
        headers["content-range"] = f"bytes {part.begin}-{part.end - 1}/{file.seal.size}"
    begin, end = part or ByteRange(0, file.seal.size)
    headers["content-length"] = str(end - begin)
    status = 206 if part else 200
    if call.request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=_media_type(file.name))
    handle = await anyio.to_thread.run_sync(_opened, file)
    return StreamingResponse(
        _sent(handle, begin, end), status, headers, media_type=_media_type(file.name)
    )


def _headers(file: SealedFile) -> dict[str, str]:
    digest = base64.b64encode(bytes.fromhex(file.seal.sha256)).decode("ascii")
    return {
        "etag": f'"{file.seal.sha256}"',
        "repr-digest": f"sha-256=:{digest}:",
        "accept-ranges": "bytes",
        "cache-control": "private, no-cache",
    }


def _is_known(request: Request, etag: str) -> bool:
    """Whether the caller has the file already."""
    names = request.headers.getlist("if-none-match")
    known = {one.strip().removeprefix("W/") for name in names for one in name.split(",")}
    return not known.isdisjoint({etag, "*"})


def _part(request: Request, file: SealedFile, etag: str) -> ByteRange | None:
    """The range that is asked for; None for the whole file, as with another one's `If-Range`."""
    if request.headers.get("if-range", etag) != etag:
        return None
    try:
        return asked_range(request.headers.get("range"), file.seal.size)
    except UnsatisfiableError:
        raise ErrorReply(
            status=416,
            message=f"{file.name} has {file.seal.size:,} bytes, none of them in the range",
            headers={"content-range": f"bytes */{file.seal.size}"},
        ) from None


def _opened(file: SealedFile) -> int:
    try:
        return os.open(file.path, os.O_RDONLY)
    except FileNotFoundError:
        raise GoneError(f"{file.name} of {file.run_id} was pruned just now") from None


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


def _media_type(name: str) -> MediaType:
    return "application/x-ndjson" if Path(name).suffix == ".jsonl" else "application/json"


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/runs/{run_id}/artifacts",
        summary="List the files of a run.",
        scope="runs:read",
        handle=_list,
        answers={200: Page[ArtifactBody]},
        errors=(404, 409, 410),
    ),
    Operation(
        method="GET",
        path="/v1/runs/{run_id}/artifacts/{artifact}",
        summary="Fetch a file of a run.",
        scope="runs:read",
        handle=_fetch,
        answers={200: _FILES, 206: _FILES, 304: None},
        errors=(404, 409, 410, 416),
        request_headers={
            "Range": "The part that is asked for, such as `bytes=0-1023`.",
            "If-Range": "The `ETag` of the file that a range is asked of.",
            "If-None-Match": "The `ETag` of a file that the caller has.",
        },
        answer_headers={
            "ETag": "The sealed SHA-256 of the file.",
            "Repr-Digest": "The same, to check what was received.",
            "Accept-Ranges": "`bytes`.",
        },
    ),
)
