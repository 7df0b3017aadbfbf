"""What is sent with a request: bytes, a JSON value, or a file that is read while it is sent."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from steelyard.errors import InvalidError, NotFoundError, SourceError

JSON = "application/json"


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
    """A value as JSON."""
    try:
        return bytes_body(msgspec.json.encode(value))
    except (TypeError, ValueError, UnicodeEncodeError, RecursionError) as wrong:
        raise InvalidError(f"this cannot be sent as JSON: {wrong}") from None


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
