"""Artifacts of a run as files: resumed where a connection broke, and checked against their seals.

A file has its name only when it is whole and its hash is that of the manifest.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from msgspec import ValidationError

from steelyard.client.address import path_of
from steelyard.client.answers import not_steelyard
from steelyard.client.cancellation import current_cancellation
from steelyard.client.connections import ServerAnswer
from steelyard.client.http_requests import HttpRequest
from steelyard.client.remote import RemoteArtifact, RemotePage
from steelyard.client.transport import Transport
from steelyard.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
    ServerUnreachableError,
    SourceError,
)
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.json_struct import JsonStruct, from_json
from steelyard.results.sealing import Seal, sealed_json, with_own_hash

_BLOCK = 256 * 1024
_MAX_FAILURES = 6
_RUN_ID = re.compile(r"run_[0-9A-Za-z]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """The artifacts of a run in a folder."""

    run_id: str
    folder: Path
    files: tuple[str, ...]
    pruned: tuple[RemoteArtifact, ...] = ()
    """Those that are no longer there, by the rules of retention."""
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those that the server does not send, and why; empty unless that is allowed."""


class _SealedRun(JsonStruct, frozen=True, kw_only=True):
    """Of a manifest, what the files are checked against."""

    run_id: str
    artifacts: dict[str, Seal]


def list_artifacts(transport: Transport, run_id: str) -> tuple[RemoteArtifact, ...]:
    """The files of a finished run; each has one of the fixed names."""
    request = HttpRequest(path=path_of("runs", run_id, "artifacts"))
    found = transport.json(request, RemotePage[RemoteArtifact]).data
    for one in found:
        if one.name not in ARTIFACTS:
            raise not_steelyard(str(transport.address), f"{one.name!r} is no artifact of a run")
    return tuple(found)


def download(
    transport: Transport, run_id: str, folder: Path, *, allow_refused: bool = False
) -> Download:
    """Fetch the files of a run into a folder; those that are there and right are kept."""
    if not _RUN_ID.fullmatch(run_id):
        raise InvalidError(f"{run_id!r} is no id of a run")
    _make_folder(folder)
    try:
        listed = list_artifacts(transport, run_id)
    except ConflictError as error:
        if not allow_refused:
            raise
        # Without its manifest nothing is known of the other files.
        return Download(run_id=run_id, folder=folder, files=(), refused={MANIFEST: str(error)})
    present = [one for one in listed if one.pruned_at is None]
    present.sort(key=lambda one: one.name != MANIFEST)
    files, refused, seals = list[str](), dict[str, str](), dict[str, Seal]()
    for one in present:
        seal = seals.get(one.name, Seal(sha256=one.sha256, size=one.size))
        try:
            fetch_artifact(transport, run_id, one.name, seal, folder)
        except (ConflictError, NotFoundError) as error:
            if not allow_refused:
                raise
            refused[one.name] = str(error)
            continue
        files.append(one.name)
        if one.name == MANIFEST:
            seals = _seals(folder / MANIFEST, run_id)
    return Download(
        run_id=run_id,
        folder=folder,
        files=tuple(files),
        pruned=tuple(one for one in listed if one.pruned_at is not None),
        refused=refused,
    )


def fetch_artifact(transport: Transport, run_id: str, name: str, seal: Seal, folder: Path) -> Path:
    """Fetch one file; what an earlier try left of it is not fetched again."""
    path = folder / name
    if path.is_file() and _digest(path) == seal:
        return path
    part = folder / f".{name}.part"
    failures, cancellation = 0, current_cancellation()
    with part.open("ab") as stream:
        if stream.tell() >= seal.size:
            stream.truncate(0)
            stream.seek(0)
        while True:
            begin = stream.tell()
            try:
                _fetch_rest(transport, run_id, name, seal, stream)
                break
            except ServerUnreachableError:
                cancellation.require()
                failures = 1 if stream.tell() > begin else failures + 1
                if failures > _MAX_FAILURES:
                    raise
                cancellation.sleep(transport.pause(failures))
        stream.flush()
        os.fsync(stream.fileno())
    found = _digest(part)
    if found != seal:
        part.unlink()
        raise SourceError(
            f"{name} of {run_id} arrived with {found.size:,} bytes and sha256 "
            f"{found.sha256[:12]}…, but was sealed with {seal.size:,} bytes and "
            f"{seal.sha256[:12]}…"
        )
    part.replace(path)
    return path


def _fetch_rest(
    transport: Transport, run_id: str, name: str, seal: Seal, stream: BinaryIO
) -> None:
    """Append what is missing to a file."""
    begin = stream.tell()
    headers = {"accept": "*/*"}
    if begin:
        headers |= {"range": f"bytes={begin}-", "if-range": f'"{seal.sha256}"'}
    request = HttpRequest(path=path_of("runs", run_id, "artifacts", name), headers=headers)
    with transport.stream(request) as answer:
        if begin and not _is_rest(answer, begin):
            stream.truncate(0)
            stream.seek(0)
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise not_steelyard(str(transport.address), f"{name} is sent compressed")
        while block := answer.read(_BLOCK, within_s=transport.timeout_s):
            if stream.tell() + len(block) > seal.size:
                raise SourceError(
                    f"{name} of {run_id} was sealed with {seal.size:,} bytes, and more are sent"
                )
            stream.write(block)


def _is_rest(answer: ServerAnswer, begin: int) -> bool:
    """Whether an answer goes on where the file ends; another one is the whole file."""
    return answer.status == 206 and answer.headers.get("content-range", "").startswith(
        f"bytes {begin}-"
    )


def _seals(path: Path, run_id: str) -> dict[str, Seal]:
    """What the manifest says of the other files; it must be intact, and that of the run."""
    data = path.read_bytes()
    try:
        row = json.loads(data)
        is_intact = sealed_json(with_own_hash(row)) == data
        manifest = from_json(row, _SealedRun)
    except (ValueError, TypeError, AttributeError, ValidationError, RecursionError):
        raise SourceError(f"the manifest of {run_id} is none") from None
    if not is_intact or manifest.run_id != run_id:
        raise SourceError(f"the manifest of {run_id} is not what was sealed")
    return manifest.artifacts


def _digest(path: Path) -> Seal:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256")
        return Seal(sha256=found.hexdigest(), size=stream.tell())


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidError(f"cannot make {folder}: {error.strerror}") from None
