"""Finds and opens files on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import InvalidError, NotFoundError
from steelyard.ports import Files, FoundPath
from steelyard.project_file import PROJECT_FILE
from steelyard.store.globs import is_pattern
from steelyard.store.project import ProjectFolder, find_project


class DiskWorkspace:
    """The user's files, seen from the current folder.

    `reads` gets every file that is read, by its place in the project.
    """

    def __init__(self, current: Path, reads: dict[Path, Path] | None = None) -> None:
        self._current = current
        self._reads = reads
        self._projects: dict[Path, ProjectFolder] = {}

    def expand(self, patterns: Sequence[str]) -> list[FoundPath]:
        """The files that paths, folders and globs stand for, each once, in order."""
        found: dict[Path, FoundPath] = {}
        for pattern in patterns:
            try:
                entries = list(self._expand(pattern))
            except OSError as error:
                raise NotFoundError(f"cannot look for {pattern}: {error.strerror}") from None
            for entry in entries:
                if entry.is_named or entry.path not in found:
                    found[entry.path] = entry
        return list(found.values())

    def open(self, path: Path) -> BinaryIO:
        """A file's bytes."""
        if self._reads is not None:
            self._reads[path] = path
        return path.open("rb")

    def is_file(self, path: Path) -> bool:
        """Whether there is such a file."""
        return path.is_file()

    def size(self, path: Path) -> int:
        """How many bytes a file has."""
        return path.stat().st_size

    def files_of(self, path: Path) -> Files:
        """The files that one eval file may show; the project file is read once a folder."""
        folder = path.resolve().parent
        if folder not in self._projects:
            self._projects[folder] = find_project(path, self._current)
        return self._projects[folder].files_of(path.resolve(), self._reads)

    def _expand(self, pattern: str) -> Iterator[FoundPath]:
        path = Path(pattern)
        if path.is_file():
            yield FoundPath(path, is_named=True)
        elif path.is_dir():
            yield from (FoundPath(file, is_named=False) for file in _walk(path))
        elif is_pattern(pattern):
            yield from self._glob(pattern)
        else:
            raise NotFoundError(f"no such file or folder: {pattern}")

    def _glob(self, pattern: str) -> Iterator[FoundPath]:
        path = Path(pattern)
        start = Path(path.anchor) if path.is_absolute() else Path()
        relative = str(path.relative_to(path.anchor)) if path.is_absolute() else pattern
        try:
            matched = sorted(start.glob(relative))
        except ValueError as error:
            raise InvalidError(f"{pattern} is not a pattern: {error}") from None
        shown = [entry for entry in matched if not _is_hidden(entry, path.parts)]
        if not shown:
            raise NotFoundError(f"nothing matches {pattern}")
        for entry in shown:
            if entry.is_dir():
                yield from (FoundPath(file, is_named=False) for file in _walk(entry))
            elif entry.name != PROJECT_FILE:
                yield FoundPath(entry, is_named=False)


def _walk(folder: Path) -> Iterator[Path]:
    """Every file below a folder but for dot folders and the project file, sorted."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and name != PROJECT_FILE:
                yield Path(place, name)


def _is_hidden(path: Path, spelled: tuple[str, ...]) -> bool:
    """Whether a dot file or folder was met that the pattern does not spell out."""
    return any(part.startswith(".") and part not in {"..", *spelled} for part in path.parts)
