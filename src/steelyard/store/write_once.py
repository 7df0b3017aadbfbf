"""Files that are written once: whole, synced, linked into place, read-only."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Protocol

from steelyard.errors import RunError
from steelyard.store.artifacts import sync_folder
from steelyard.store.file_names import remove_file, take_name
from steelyard.store.private_files import SEALED, make_private_folder, private

_NUMBERS = count()


class OnceFiles(Protocol):
    """Files beneath a folder, each written once, by whichever process comes first."""

    def look(self, folder: Path) -> None:
        """Have here what others have written beneath a folder."""
        ...

    def bring(self, path: Path) -> None:
        """Have one file here, if anybody has written it."""
        ...

    def create(self, path: Path, data: bytes) -> bool:
        """Write a file; False where its name is taken."""
        ...

    def share(self, path: Path) -> None:
        """Let others have a file that is named by its content."""
        ...


class DiskFiles:
    """Files on a disk that every process sees."""

    def look(self, folder: Path) -> None:
        """All are there."""

    def bring(self, path: Path) -> None:
        """It is there, or nowhere."""

    def create(self, path: Path, data: bytes) -> bool:
        """Write a file; False where its name is taken."""
        return write_once(path, (data,))

    def share(self, path: Path) -> None:
        """Others see it."""


def write_once(path: Path, chunks: Iterable[bytes]) -> bool:
    """Put a file in place; False where its name is taken.

    Of two processes that write one file, one wins.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}-{next(_NUMBERS)}.part")
    try:
        make_private_folder(path.parent)
        with open(part, "xb", opener=private) as stream:
            stream.writelines(chunks)
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(SEALED)
        is_new = _is_new(part, path)
        sync_folder(path.parent)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            remove_file(part)
    return is_new


def _is_new(part: Path, path: Path) -> bool:
    try:
        take_name(part, path)
    except FileExistsError:
        return False
    return True


def write_next(files: OnceFiles, folder: Path, data: bytes, form: str = "{:06}.json") -> Path:
    """Put a file after all that a folder holds, under the next number."""
    files.look(folder)
    number = len(list(folder.glob(form.replace("{:06}", "[0-9]*")))) + 1
    while not files.create(path := folder / form.format(number), data):
        number += 1
    return path
