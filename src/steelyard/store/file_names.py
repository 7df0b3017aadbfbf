"""Names of files: taken once, shared and removed, with or without links and read-only files."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from steelyard.operating_system import IS_WINDOWS

_NO_LINKS = {errno.EPERM, errno.EMLINK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
"""FAT, some network folders and some containers have none."""


def take_name(part: Path, path: Path) -> None:
    """Move a draft to a name that is free; `FileExistsError` where it is taken.

    Of two writers one wins. Without links, a power cut can leave the name with an empty file.
    """
    if IS_WINDOWS:
        part.rename(path)  # which fails there where the name is taken
        return
    try:
        os.link(part, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        part.replace(path)
    else:
        part.unlink()


def share_file(source: Path, place: Path) -> None:
    """Give a file that never changes a second name; without links, a second copy."""
    try:
        os.link(source, place)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        part = place.with_name(f".{place.name}.{os.getpid()}.part")
        try:
            shutil.copyfile(source, part)
            take_name(part, place)
        finally:
            part.unlink(missing_ok=True)


def remove_file(path: Path) -> None:
    """Remove a file; Windows removes none that is read-only."""
    if IS_WINDOWS:
        path.chmod(0o600)
    path.unlink()


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it."""
    if IS_WINDOWS:
        for path in folder.rglob("*"):
            path.chmod(0o700)
    shutil.rmtree(folder)


def remove_what_can_be(folder: Path) -> None:
    """Remove a folder as far as the system allows it."""
    with suppress(OSError):
        remove_folder(folder)
    shutil.rmtree(folder, ignore_errors=True)
