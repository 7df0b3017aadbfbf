"""Files in the bodies of requests: received without holding them whole, and read in a thread."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import PurePath
from typing import Any, BinaryIO, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from starlette.requests import Request

from steelyard.api.request_body import body_chunks
from steelyard.contracts.contract import EXTENSIONS
from steelyard.errors import InvalidError
from steelyard.usecases.datasets.open_dataset import MAX_JSON
from steelyard.usecases.datasets.uploads import Upload, require_upload_name

MAX_YAML = 8 * 1024 * 1024
"""Less than from a file: YAML takes many times its size in memory."""
MEDIA: dict[str, type | None] = {
    "application/json": dict[str, Any],
    "application/yaml": None,
    "application/x-ndjson": None,
    "application/octet-stream": None,
}
"""The types of bodies that hold a file; a form of another site can send none of them."""
_EXTENSIONS = {
    "application/json": ".json",
    "application/yaml": ".yaml",
    "application/x-yaml": ".yaml",
    "text/yaml": ".yaml",
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "text/csv": ".csv",
    "application/octet-stream": "",
}
_MEDIA_TYPES = {
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".jsonl": "application/x-ndjson",
}
_SMALL = 1024 * 1024
_HEAVY_AT_ONCE = 2
_HEAVY: RunVar[CapacityLimiter] = RunVar("heavy uploads")
Made = TypeVar("Made")


@asynccontextmanager
async def received(
    request: Request,
    name: str | None,
    stem: str,
    most: int = MAX_JSON,
    endings: Sequence[str] = EXTENSIONS,
) -> AsyncGenerator[Upload]:
    """The file of a body; a large one is put on disk while it arrives, where nobody finds it.

    Its form is that of the name, where there is one, or else that of the content type.
    """
    name = _file_name(request, name, stem)
    require_upload_name(name, endings)
    limit = min(most, MAX_YAML) if name.lower().endswith((".yaml", ".yml")) else most
    with closing(_Body()) as body:
        async for chunk in body_chunks(request, limit):
            if body.add(chunk):
                await anyio.to_thread.run_sync(body.spill)
        yield await anyio.to_thread.run_sync(body.upload, name)


async def in_turn(upload: Upload, work: Callable[[Upload], Made]) -> Made:
    """The result of work on a file, in a thread; of large files two are worked on at once."""
    if upload.size <= _SMALL:
        return await anyio.to_thread.run_sync(work, upload)
    try:
        limiter = _HEAVY.get()
    except LookupError:
        limiter = CapacityLimiter(_HEAVY_AT_ONCE)
        _HEAVY.set(limiter)
    return await anyio.to_thread.run_sync(work, upload, limiter=limiter)


def _file_name(request: Request, name: str | None, stem: str) -> str:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _EXTENSIONS:
        known = ", ".join(MEDIA)
        raise InvalidError(f"the content type must be one of {known}, not '{kind[:100]}'")
    return name or f"{stem}{_EXTENSIONS[kind]}"


def media_type(name: str) -> str:
    """The type of a file that is sent, by its ending."""
    ending = PurePath(name).suffix.lower()
    return _MEDIA_TYPES.get(ending, "application/octet-stream")


class _Body:
    """A body as it arrives: in memory while it is small, then in a file without a name."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._digest = hashlib.sha256()
        self._size = 0
        self._file: BinaryIO | None = None

    def add(self, chunk: bytes) -> bool:
        """Take a piece; True when it is time to spill what is held."""
        self._size += len(chunk)
        self._waiting += chunk
        return len(self._waiting) > _SMALL

    def spill(self) -> None:
        """Write what is held to the file."""
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the upload
        self._digest.update(self._waiting)
        self._file.write(self._waiting)
        self._waiting.clear()

    def close(self) -> None:
        """Remove the file."""
        if self._file:
            self._file.close()

    def upload(self, name: str) -> Upload:
        """The whole file."""
        if self._file is None:
            data = bytes(self._waiting)
            digest = hashlib.sha256(data).hexdigest()
            return Upload(name, partial(io.BytesIO, data), self._size, digest)
        self.spill()
        self._file.flush()
        file = self._file
        opened = partial(_opened, file)
        return Upload(name, opened, self._size, self._digest.hexdigest())


def _opened(file: BinaryIO) -> BinaryIO:
    """A stream of its own over a file that has no name."""
    return io.BufferedReader(_Reader(file))


class _Reader(io.RawIOBase):
    """Reads a file from its beginning, whatever others read of it."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._place = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place."""
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self._place}
        size = os.fstat(self._file.fileno()).st_size
        self._place = max(0, starts.get(whence, size) + offset)
        return self._place

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes."""
        data = os.pread(self._file.fileno(), len(buffer), self._place)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)
