"""What is sent with a request: bytes, a JSON value, or a file that is read while it is sent."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec

from steelyard.client.composed_json import composed_json, is_plain
from steelyard.errors import InvalidError, NotFoundError, SourceError

JSON = "application/json"
_BLOCK = 1024 * 1024
_MAX_DOCUMENT = 101 * _BLOCK
"""Larger documents are refused by every server, and are not read into memory here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBody:
    """A body of known size, which can be read again for another try."""

    size: int
    open: Callable[[], BinaryIO]
    media_type: str = JSON
    name: str = "the body"

    def blocks(self, size: int) -> Iterator[bytes]:
        """The body, piece by piece."""
        left = self.size
        with self.open() as stream:
            while left:
                block = stream.read(min(size, left))
                if not block:
                    raise SourceError(f"{self.name} has become shorter while it was sent")
                left -= len(block)
                yield block


def json_body(value: object) -> SentBody:
    """A value as JSON; NaN and infinities, which JSON lacks, are refused."""
    try:
        _require_finite(value)
        return bytes_body(msgspec.json.encode(value))
    except (TypeError, ValueError, UnicodeEncodeError, RecursionError) as wrong:
        raise InvalidError(f"this cannot be sent as JSON: {wrong}") from None


def _require_finite(value: object) -> None:
    """Refuse numbers that JSON does not have: they would be sent as null."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a number that JSON can hold")
    inner: Iterable[object] = ()
    if isinstance(value, Mapping):
        inner = cast("Mapping[object, object]", value).values()
    elif isinstance(value, list | tuple):
        inner = cast("Sequence[object]", value)
    for one in inner:
        _require_finite(one)


def bytes_body(data: bytes, media_type: str = JSON) -> SentBody:
    """Bytes as they are."""
    return SentBody(size=len(data), open=lambda: io.BytesIO(data), media_type=media_type)


def file_body(path: Path, media_type: str = JSON) -> SentBody:
    """A file, of which no more than a block is ever in memory."""
    if not path.is_file():
        raise NotFoundError(f"{path} is no file" if path.exists() else f"{path} is not there")
    size = os.stat(path).st_size  # noqa: PTH116 - what is opened below may be another file by then
    return SentBody(size=size, open=lambda: path.open("rb"), media_type=media_type, name=str(path))


def body_of(content: str | Path | bytes | Mapping[str, Any], media_type: str = JSON) -> SentBody:
    """A path, bytes, or a value."""
    if isinstance(content, str | Path):
        return file_body(Path(content), media_type)
    return bytes_body(content, media_type) if isinstance(content, bytes) else json_body(content)


def document_body(content: str | Path | bytes | Mapping[str, Any]) -> SentBody:
    """JSON, such as a dataset document, with its strings in NFC: a path, bytes, or a value.

    A file in which NFC changes nothing is read while it is sent.
    """
    body = body_of(content)
    if body.size > _MAX_DOCUMENT or all(map(is_plain, body.blocks(_BLOCK))):
        return body
    data = b"".join(body.blocks(_BLOCK))
    return bytes_body(composed_json(data))
