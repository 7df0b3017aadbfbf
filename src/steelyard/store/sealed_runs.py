"""Where finished runs are sealed: the folder of the project."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from msgspec import ValidationError

from steelyard.errors import RunError, UnreadableFileError
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.json_struct import from_json
from steelyard.results.pruned import PrunedFile
from steelyard.results.sealing import Seal
from steelyard.store.artifacts import ArtifactFolder, digest_of, sync_folder


class SealedRuns(Protocol):
    """The runs of a project that are sealed, wherever that is."""

    @property
    def folder(self) -> Path:
        """Where they, or copies of them, are on this host."""
        ...

    def require_ready(self) -> None:
        """Refuse a place where a run could not be sealed once and for all."""
        ...

    def artifacts(self, run_id: str) -> ArtifactFolder:
        """The artifacts of a run that is being sealed."""
        ...

    def fetch(self, run_id: str, names: Collection[str] = ARTIFACTS) -> Path:
        """The folder of a run, with these of its files as far as they were sealed."""
        ...

    def brought(self, folder: Path) -> Path:
        """The same for a folder that may be one of a run."""
        ...

    @contextmanager
    def as_sealed(self, folder: Path) -> Generator[tuple[Path, Callable[[Path], Seal]]]:
        """A folder with the manifest of a run, and what hashes the files beside it."""
        ...

    def there(self, run_id: str) -> dict[str, Seal]:
        """The files of a run that are there, as they were sealed."""
        ...

    def note(self, files: Collection[PrunedFile]) -> None:
        """Keep beside the runs what will be pruned."""
        ...

    def remove(self, run_id: str, name: str) -> None:
        """Remove a file."""
        ...

    def is_empty(self, run_id: str) -> bool:
        """Whether there is a folder, with nothing in it but drafts that were never sealed."""
        ...

    def remove_folder(self, run_id: str) -> None:
        """Remove a folder that is empty in this sense; any other it leaves alone."""
        ...

    def remove_orphans(self, ended: Collection[str], sealed: Collection[str]) -> int:
        """Remove what writers who did not win have left of runs that have ended; how much.

        Of a sealed run whose manifest is gone everything is left: whose files are its own is not
        known any more.
        """
        ...


class DiskRuns:
    """The folders of runs on the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def require_ready(self) -> None:
        """A disk is."""

    def artifacts(self, run_id: str) -> ArtifactFolder:
        """The artifacts of a run that is being sealed."""
        return ArtifactFolder(self.folder / run_id)

    def fetch(self, run_id: str, names: Collection[str] = ARTIFACTS) -> Path:  # noqa: ARG002 - all are there
        """The folder of a run."""
        return self.folder / run_id

    def brought(self, folder: Path) -> Path:
        """The folder itself."""
        return folder

    @contextmanager
    def as_sealed(self, folder: Path) -> Generator[tuple[Path, Callable[[Path], Seal]]]:
        """The folder itself, and what hashes a file."""
        yield folder, digest_of

    def there(self, run_id: str) -> dict[str, Seal]:
        """The files of a run that are there, as they were sealed."""
        folder = self.folder / run_id
        sealed = seals_of(folder / MANIFEST)
        there = (name for name in ARTIFACTS if (folder / name).is_file())
        return {name: sealed.get(name) or digest_of(folder / name) for name in there}

    def note(self, files: Collection[PrunedFile]) -> None:
        """The notes of the project are enough."""

    def remove(self, run_id: str, name: str) -> None:
        """Remove a file."""
        folder = self.folder / run_id
        try:
            (folder / name).chmod(0o600)
            (folder / name).unlink()
            sync_folder(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise RunError(f"cannot remove {folder / name}: {error.strerror}") from None

    def is_empty(self, run_id: str) -> bool:
        """Whether there is a folder, with nothing in it but drafts that were never sealed."""
        folder = self.folder / run_id
        return folder.is_dir() and all(path.match(".*.part") for path in folder.iterdir())

    def remove_folder(self, run_id: str) -> None:
        """Remove the folder of a run that has no files but drafts; any other it leaves alone."""
        folder = self.folder / run_id
        if not self.is_empty(run_id):
            return
        try:
            for draft in folder.iterdir():
                draft.unlink()
            folder.rmdir()
            sync_folder(folder.parent)
        except OSError as error:
            raise RunError(f"cannot remove {folder}: {error.strerror}") from None

    def remove_orphans(
        self,
        ended: Collection[str],  # noqa: ARG002 - there are none
        sealed: Collection[str],  # noqa: ARG002
    ) -> int:
        """Drafts go with their folder, and with the next try to seal."""
        return 0


def best_copy(runs: SealedRuns, run_id: str, names: Collection[str]) -> Path:
    """The folder of a run, with what can be copied of files some of which may be damaged."""
    with suppress(UnreadableFileError):
        return runs.fetch(run_id, names)
    return runs.folder / run_id


def seals_of(manifest: Path) -> dict[str, Seal]:
    """What a manifest says of the other files; nothing where it says nothing."""
    try:
        return seals_in(manifest.read_bytes())
    except OSError:
        return {}


def seals_in(manifest: bytes) -> dict[str, Seal]:
    """The same of its content."""
    try:
        return from_json(json.loads(manifest)["artifacts"], dict[str, Seal])
    except (ValueError, KeyError, TypeError, ValidationError):
        return {}
