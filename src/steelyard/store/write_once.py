"""Files that are written once: whole, synced, linked into place, read-only."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path

from steelyard.errors import RunError
from steelyard.store.artifacts import sync_folder
from steelyard.store.file_names import remove_file, take_name
from steelyard.store.private_files import SEALED, make_private_folder, private

_NUMBERS = count()


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


def write_next(folder: Path, chunk: bytes) -> Path:
    """Put a file after all that a folder holds, under the next number."""
    number = len(numbered(folder)) + 1
    while not write_once(path := folder / f"{number:06}.json", (chunk,)):
        number += 1
    return path


def numbered(folder: Path) -> list[Path]:
    """The files that were put there, in order."""
    return sorted(folder.glob("[0-9]*.json"))
