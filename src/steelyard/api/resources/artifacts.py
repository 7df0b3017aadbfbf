"""The files of a run: listed, and sent as attachments, whole or in part.

A file is sent only as it was sealed: it is hashed when it is first asked for, and again when its
size or times have changed. One that differs from its seal is a conflict.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio.to_thread
import msgspec
from starlette.responses import Response

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.paging import Page
from steelyard.api.resources.sent_files import (
    ANSWER_HEADERS,
    REQUEST_HEADERS,
    SentFile,
    attachment,
)
from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import ShownResults, shown_metrics, shown_slices
from steelyard.results.artifacts import METRICS, SLICES
from steelyard.results.metrics import read_metrics, read_slices
from steelyard.results.predictions import PREDICTIONS
from steelyard.usecases.results.sealed_files import SealedFile, list_files, sealed_file

_FILES = "application/json application/x-ndjson"
MediaType: TypeAlias = Literal["application/json", "application/x-ndjson"]


class ArtifactBody(msgspec.Struct, frozen=True):
    """A file of a run."""

    name: str
    """The name of the file."""
    size: int
    """Its bytes."""
    sha256: str
    """The hash with which it was sealed."""
    media_type: MediaType
    """What it is sent as."""
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
    if call.request.method != "HEAD":
        await anyio.to_thread.run_sync(_note, call, file)
    sent = SentFile(file.name, file.path, file.seal.size, file.seal.sha256)
    return await attachment(call.request, sent, _media_type(file.name))


def _note(call: Call[NoQuery, None], file: SealedFile) -> None:
    """Note whose results a file shows."""
    if file.name == PREDICTIONS:
        note_shown(call, ShownResults(file.run_id, None))
    elif file.name == METRICS:
        metrics = read_metrics(file.path.read_bytes())
        note_shown(call, shown_metrics(file.run_id, metrics))
    elif file.name == SLICES:
        note_shown(call, shown_slices(file.run_id, read_slices(file.path.read_bytes())))


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
        request_headers=REQUEST_HEADERS,
        answer_headers=ANSWER_HEADERS,
    ),
)
