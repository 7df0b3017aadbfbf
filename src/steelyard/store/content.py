"""Files under the hash of their content, so that many can share one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import RunError
from steelyard.store.write_once import DiskFiles, OnceFiles, write_once

_CHUNK = 1 << 20


class ContentFolder:
    """`<folder>/<sha256>`, each file written once."""

    def __init__(self, folder: Path, files: OnceFiles | None = None) -> None:
        self.folder = folder
        self._files = files or DiskFiles()

    def place(self, sha256: str) -> Path:
        """The file with this content."""
        return self.folder / sha256

    def keep(self, sha256: str, open_content: Callable[[], BinaryIO]) -> None:
        """Copy a content that is not there yet; another content than the hash says is refused."""
        if not self.place(sha256).exists():
            self._write(sha256, open_content)
        self._files.share(self.place(sha256))

    def _write(self, sha256: str, open_content: Callable[[], BinaryIO]) -> None:
        with open_content() as stream:
            digest = hashlib.sha256()

            def chunks() -> Iterator[bytes]:
                while chunk := stream.read(_CHUNK):
                    digest.update(chunk)
                    yield chunk
                if digest.hexdigest() != sha256:
                    raise RunError("a file has changed while it was copied; try again")

            write_once(self.place(sha256), chunks())
