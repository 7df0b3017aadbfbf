"""Artifacts on disk: written whole, synced, linked into place, read-only; the manifest last."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from steelyard.errors import RunError
from steelyard.operating_system import IS_WINDOWS
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.sealing import Seal
from steelyard.store.file_names import remove_file, take_name
from steelyard.store.private_files import SEALED, make_private_folder, private

_PART = ".part"
_CHUNK = 64 * 1024
_HASHED_BYTES = 8 << 20
"""Large, since a thread that hashes beside another waits its turn before each part."""


class Elsewhere(Protocol):
    """Where an artifact is sealed beside the disk."""

    def write(self, data: bytes) -> None:
        """Append, as far as that can be done before the file is whole."""
        ...

    def commit(self, path: Path) -> None:
        """Seal the whole file; what fails here keeps it from taking its name on the disk."""
        ...


class ArtifactFileDraft:
    """An artifact that is being written; it exists only once it is sealed."""

    def __init__(self, folder: Path, name: str, elsewhere: Elsewhere | None = None) -> None:
        self._elsewhere = elsewhere
        self._final = folder / name
        self._path = folder / f".{name}.{os.getpid()}{_PART}"
        self._digest = hashlib.sha256()
        self._size = 0
        self._waiting: list[bytes] = []
        self._waiting_size = 0
        with _on_disk(self._final):
            self._stream = open(self._path, "wb", opener=private)  # noqa: SIM115 - a draft closes it

    def write(self, data: bytes) -> None:
        """Append."""
        # Rows are short: to write and to hash many at once takes a third of the time.
        self._waiting.append(data)
        self._waiting_size += len(data)
        if self._waiting_size >= _CHUNK:
            self._write_waiting()

    def _write_waiting(self) -> None:
        data = b"".join(self._waiting)
        self._waiting.clear()
        self._waiting_size = 0
        with _on_disk(self._final):
            self._stream.write(data)
        if self._elsewhere:
            self._elsewhere.write(data)
        self._digest.update(data)
        self._size += len(data)

    def seal(self) -> Seal:
        """Sync, link into place and make read-only; a name that is taken is refused."""
        self._write_waiting()
        with _on_disk(self._final):
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._stream.close()
            self._path.chmod(SEALED)
            try:
                if self._elsewhere:
                    self._elsewhere.commit(self._path)
                take_name(self._path, self._final)
            finally:
                with suppress(FileNotFoundError):
                    remove_file(self._path)
            sync_folder(self._final.parent)
        return Seal(sha256=self._digest.hexdigest(), size=self._size)

    def close(self) -> None:
        """Let go of the file; one that is not sealed stays a draft."""
        # Whatever cannot be written was reported before.
        with suppress(OSError):
            self._stream.close()


class ArtifactFolder:
    """The folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def writer(self) -> str | None:
        """The name under which the files are kept elsewhere; None: they are kept here alone."""
        return None

    def draft(self, name: str) -> ArtifactFileDraft:
        """Begin one artifact; a name that is there already is refused."""
        if name not in ARTIFACTS:
            raise RunError(f"'{name}' is no artifact of a run")
        if (self.folder / name).exists():
            raise _taken(self.folder / name)
        with _on_disk(self.folder):
            if not self.folder.is_dir():
                make_private_folder(self.folder)
                sync_folder(self.folder.parent)
        return ArtifactFileDraft(self.folder, name, self._elsewhere(name))

    def _elsewhere(self, _name: str) -> Elsewhere | None:
        return None

    def read(self, name: str) -> bytes | None:
        """A sealed artifact; None when it is not there."""
        path = self.folder / name
        return path.read_bytes() if path.is_file() else None

    def clear_drafts(self) -> None:
        """Remove what a stop while finalizing has left; of a sealed run, only drafts."""
        is_sealed = (self.folder / MANIFEST).exists()
        with _on_disk(self.folder):
            for left in self.folder.glob(f".*{_PART}" if is_sealed else "*"):
                remove_file(left)


@contextmanager
def _on_disk(path: Path) -> Generator[None]:
    """What fails on the disk is the run's failure."""
    try:
        yield
    except FileExistsError:
        raise _taken(path) from None
    except OSError as error:
        raise _refused(path, error) from None


def _refused(path: Path, error: OSError) -> RunError:
    return RunError(
        f"cannot write {path}: {error.strerror}; mend that, then `steelyard resume` the run"
    )


def _taken(path: Path) -> RunError:
    return RunError(f"{path} is sealed; a correction needs a new run")


def digest_of(path: Path) -> Seal:
    """Hash and size of a file as it is."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while chunk := stream.read(_HASHED_BYTES):
            digest.update(chunk)
            size += len(chunk)
    return Seal(sha256=digest.hexdigest(), size=size)


def sync_folder(folder: Path) -> None:
    """See to it that a change of names in a folder lasts."""
    if IS_WINDOWS:  # it opens no folder, and keeps its own journal of names
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
