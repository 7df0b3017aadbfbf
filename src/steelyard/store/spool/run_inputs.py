"""What queued runs read, kept until they end."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import InvalidError, RunError, SourceError
from steelyard.project_file import PROJECT_FILE
from steelyard.store.artifacts import digest_of
from steelyard.store.content import ContentFolder
from steelyard.store.file_names import remove_file, remove_folder, share_file
from steelyard.store.private_files import make_private_folder

_CONTENT = "content"
_STAYS = ("registry", "runs")
"""What is read where it is, in the project's data folder: none of it ever changes."""
LEFT_S = 3600.0


class InputFolder:
    """`inputs/<run_id>/` holds a queued run's files at their places in the project.

    They are links to `inputs/content/<sha256>`, so that runs of one dataset share one copy.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._folder = data / "inputs"
        self._content = ContentFolder(self._folder / _CONTENT)

    def keep(
        self,
        run_id: str,
        files: Mapping[Path, Path],
        contents: Mapping[Path, bytes],
        settings: bytes,
    ) -> None:
        """Copy files and contents to their places; a place outside the project is refused."""
        root, run = self._data.parent, self._folder / run_id
        stays = tuple((self._data / name).resolve() for name in _STAYS)
        places = {
            run / _within(root, place, source): source
            for place, source in files.items()
            if not any(source.resolve().is_relative_to(folder) for folder in stays)
        }
        if self._folder.is_symlink():
            raise InvalidError(f"{self._folder} is a link, but must be a folder of the project")
        try:
            make_private_folder(self._folder)
            for place, source in places.items():
                self._put(place, digest_of(source).sha256, partial(source.open, "rb"))
            for place, data in contents.items():
                sha256 = hashlib.sha256(data).hexdigest()
                self._put(run / place, sha256, partial(BytesIO, data))
            sha256 = hashlib.sha256(settings).hexdigest()
            for place in (run / PROJECT_FILE, _checksum(run, sha256)):
                self._put(place, sha256, lambda: BytesIO(settings))
        except BaseException as error:
            self.delete(run_id)
            if isinstance(error, OSError):
                raise RunError(f"cannot keep {error.filename}: {error.strerror}") from None
            raise

    def folder(self, run_id: str) -> Path | None:
        """Where a run finds what it reads; None for one that reads the project itself.

        The plan knows the hashes of all but the settings, which are looked at here.
        """
        folder = self._folder / run_id
        if not folder.is_dir():
            return None
        if self.is_lost(run_id):
            raise SourceError(
                f"the inputs of {run_id} were not restored; cancel it and run the dataset again"
            )
        settings = folder / PROJECT_FILE
        if not (settings.is_file() and _checksum(folder, digest_of(settings).sha256).exists()):
            raise SourceError(f"the settings kept for {run_id} are damaged; start a new run")
        return folder

    def mark_lost(self, run_id: str) -> None:
        """Note with an empty folder that what was kept for a run is not in a restored project."""
        make_private_folder(self._folder / run_id)

    def is_lost(self, run_id: str) -> bool:
        """Whether a restore has left out what was kept for a run."""
        folder = self._folder / run_id
        return folder.is_dir() and not any(folder.iterdir())

    def delete(self, run_id: str) -> None:
        """Remove what was kept for a run, and every content that no other run needs."""
        if not (self._folder / run_id).is_dir():
            return
        remove_folder(self._folder / run_id)
        for content in self._content.folder.glob("*"):
            with suppress(FileNotFoundError):
                if content.stat().st_nlink == 1:
                    remove_file(content)

    def left(self) -> Iterator[str]:
        """The runs for which files are kept since an hour or more."""
        for run_id in self.runs():
            if time.time() - (self._folder / run_id).stat().st_mtime > LEFT_S:
                yield run_id

    def runs(self) -> list[str]:
        """The runs for which files are kept, or were before a restore."""
        folders = self._folder.iterdir() if self._folder.is_dir() else ()
        return [folder.name for folder in folders if folder.name != _CONTENT]

    def _put(self, place: Path, sha256: str, open_content: Callable[[], BinaryIO]) -> None:
        make_private_folder(place.parent)
        with suppress(FileNotFoundError):
            content = self._content.place(sha256)
            if digest_of(content).sha256 != sha256:
                remove_file(content)
        while not place.exists():
            self._content.keep(sha256, open_content)
            # A run that ends just now may remove what is not linked yet.
            with suppress(FileNotFoundError):
                share_file(self._content.place(sha256), place)


def _checksum(run: Path, sha256: str) -> Path:
    """The name that says what the settings of a run were."""
    return run / f".settings-{sha256}"


def _within(root: Path, place: Path, source: Path) -> Path:
    """The place from the root; links of a dataset were checked when they were followed."""
    if PROJECT_FILE in {place.name, source.resolve().name}:
        raise InvalidError(f"{place} may hold secrets; a queued run cannot keep a project file")
    # A path that leaves the project and comes back would leave the copy, too.
    if place.is_relative_to(root):
        relative = place.relative_to(root)
        real = source.resolve() if place == source else place
        if ".." not in Path(os.path.normpath(relative)).parts and real.is_relative_to(root):
            return relative
    raise InvalidError(f"{place} lies outside the project; a queued run cannot keep it")
