"""The protocols that several packages share: the disk, as the core sees it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol


class FoundFile(NamedTuple):
    """A file that exists and may be read."""

    path: str
    text: str
    is_guideline: bool = False


class FileFault(NamedTuple):
    """Why a reference does not lead to a text."""

    code: str
    message: str
    hint: str | None = None


class Files(Protocol):
    """Finds what a reference in one eval file stands for."""

    def read(self, reference: str) -> FoundFile | FileFault:
        """The text of a file, or why there is none."""
        ...


class NoFiles:
    """Refuses every reference: for data that comes without a folder."""

    def read(self, reference: str) -> FoundFile | FileFault:
        """Never a file."""
        return FileFault("missing_file", f"file references are not allowed here: {reference}")


class FoundPath(NamedTuple):
    """A file to look at; named by the user, or met while walking a folder."""

    path: Path
    is_named: bool


class Workspace(Protocol):
    """Finds and opens files; a file that cannot be opened is an OSError."""

    def expand(self, patterns: Sequence[str]) -> list[FoundPath]:
        """The files that paths, folders and globs stand for, each once, in order."""
        ...

    def open(self, path: Path) -> BinaryIO:
        """A file's bytes."""
        ...

    def is_file(self, path: Path) -> bool:
        """Whether there is such a file."""
        ...

    def files_of(self, path: Path) -> Files:
        """The files that one eval file may show."""
        ...
