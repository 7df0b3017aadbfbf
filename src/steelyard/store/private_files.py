"""Folders and files of a project's data, which nobody but its user may read whatever the umask."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

STEELYARD_FOLDER = ".steelyard"
SEALED = 0o400
_FOLDER = 0o700
_FILE = 0o600


def make_private_folder(folder: Path) -> None:
    """Make a folder and what is missing above it; folders of an older project are closed too."""
    for one in reversed((folder, *folder.parents)):
        if not one.exists():
            one.mkdir(mode=_FOLDER, exist_ok=True)
            one.chmod(_FOLDER)
    parts = folder.parts
    if STEELYARD_FOLDER in parts:
        place = len(parts) - parts[::-1].index(STEELYARD_FOLDER)
        for one in (Path(*parts[:place]), folder):
            _close(one, _FOLDER)


def private(path: str, flags: int) -> int:
    """Open a file as its user's alone: for the `opener` of `open`."""
    file = os.open(path, flags, _FILE)
    if hasattr(os, "fchmod"):  # where there is none (Windows), the folder's rights count
        with suppress(PermissionError):  # another user's file keeps the rights that they gave it
            os.fchmod(file, _FILE)
    return file


def close_to_others(path: Path) -> None:
    """Make a file the user's alone, as far as it is there and the user's."""
    _close(path, _FILE)


def _close(path: Path, mode: int) -> None:
    with suppress(OSError):
        if path.stat().st_mode & 0o077:
            path.chmod(mode)
