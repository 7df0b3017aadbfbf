"""Restores a project's data from a back-up: all of it, or nothing."""

from __future__ import annotations

import hashlib
import os
import secrets
import struct
import tarfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from steelyard.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
    RunError,
    UnreadableFileError,
)
from steelyard.results.backup import (
    BACKUP_MANIFEST,
    DATABASE,
    BackupFile,
    BackupHeader,
    BackupLink,
    BackupSummary,
    require_place,
)
from steelyard.store.artifacts import sync_folder
from steelyard.store.backups.database_copies import is_sound, take_from_queue
from steelyard.store.backups.foreign_rows import require_known_rows
from steelyard.store.backups.foreign_schema import require_known_columns, require_known_objects
from steelyard.store.file_names import remove_what_can_be
from steelyard.store.private_files import SEALED, STEELYARD_FOLDER, make_private_folder, private
from steelyard.store.spool.run_inputs import InputFolder
from steelyard.store.tables import SCHEMA_VERSION

_CHUNK = 1 << 20
_MOST_HEADER = 1 << 20
"""The most bytes that the tar format itself may ask for at once."""
_INPUTS = "inputs/"
"""Settings name programs, keys and addresses: no run is executed with those of a back-up."""
_DAMAGED = (
    *(tarfile.TarError, msgspec.MsgspecError, ValueError, EOFError, RecursionError),
    struct.error,
)
_Line = msgspec.json.Decoder(BackupHeader | BackupFile | BackupLink)


@dataclass(frozen=True, slots=True)
class _Contents:
    """What the manifest of a back-up says."""

    header: BackupHeader
    files: dict[str, BackupFile]


class BackupReader:
    """One back-up file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def restore(self, root: Path, note: Callable[[Path], None]) -> BackupSummary:
        """Make the data folder of a project root; one that holds anything is refused.

        Everything is checked before anything is written. `note` is called with the database just
        before the folder gets its name.
        """
        place = root / STEELYARD_FOLDER
        if not self._path.is_file():
            raise NotFoundError(f"there is no file {self._path}")
        if place.is_symlink() or (place.exists() and any(place.iterdir())):
            raise ConflictError(
                f"{place} holds data; restore into another folder, or move it away"
            )
        with self._reading():
            contents = self._checked()
        is_new = not root.exists()
        part = root / f"{STEELYARD_FOLDER}-restoring-{secrets.token_hex(4)}"
        try:
            root.mkdir(parents=True, exist_ok=True)
            part.mkdir(mode=0o700)
            with self._reading():
                self._extract(contents, part)
            _require_sound(part / DATABASE)
            require_known_objects(part / DATABASE)
            note(part / DATABASE)
            require_known_columns(part / DATABASE)
            require_known_rows(part / DATABASE)
            inputs = InputFolder(part)
            for run_id in take_from_queue(part / DATABASE):
                inputs.mark_lost(run_id)
            sync_folder(part)
            part.rename(place)
            sync_folder(root)
        except OSError as error:
            raise RunError(f"cannot restore into {root}: {error.strerror or error}") from None
        finally:
            remove_what_can_be(part)
            if is_new:
                with suppress(OSError):  # it holds what was restored
                    root.rmdir()
        runs = {name.split("/")[1] for name in contents.files if name.startswith("runs/")}
        return BackupSummary(
            files=len(contents.files),
            size=sum(file.size for file in contents.files.values()),
            runs=len(runs),
            created_at=contents.header.created_at,
        )

    def _checked(self) -> _Contents:
        """What the back-up holds, when all of it is there and as it was."""
        found: dict[str, tuple[str, int]] = {}
        contents: _Contents | None = None
        for name, size, chunks in self._members():
            if contents is not None:
                raise self._damaged(f"{name} follows the manifest")
            if name == BACKUP_MANIFEST:
                contents = self._contents(chunks)
                continue
            require_place(name)
            if name in found:
                raise self._damaged(f"{name} is there twice")
            digest = hashlib.sha256()
            for chunk in chunks:
                digest.update(chunk)
            found[name] = (digest.hexdigest(), size)
        if contents is None:
            raise self._damaged("its manifest is missing")
        said = {name: (file.sha256, file.size) for name, file in contents.files.items()}
        for name in sorted(said.keys() | found.keys()):
            if said.get(name) != found.get(name):
                raise self._damaged(f"{name} is not what the manifest says")
        if DATABASE not in found:
            raise self._damaged("it holds no database")
        return contents

    def _extract(self, contents: _Contents, part: Path) -> None:
        for name, _, chunks in self._members():
            if name == BACKUP_MANIFEST:
                break
            if name.startswith(_INPUTS):
                continue
            place, digest = part / name, hashlib.sha256()
            make_private_folder(place.parent)
            with open(place, "xb", opener=private) as stream:
                for chunk in chunks:
                    digest.update(chunk)
                    stream.write(chunk)
                stream.flush()
                os.fsync(stream.fileno())
            if digest.hexdigest() != contents.files[name].sha256:
                raise self._damaged(f"{name} has changed while it was restored")
            if name.startswith(("runs/", "registry/")):
                place.chmod(SEALED)

    def _contents(self, chunks: Iterator[bytes]) -> _Contents:
        header: BackupHeader | None = None
        files: dict[str, BackupFile] = {}
        for line in b"".join(chunks).splitlines():
            noted: BackupHeader | BackupFile | BackupLink = _Line.decode(line)
            match noted:
                case BackupHeader() as header:
                    pass
                case BackupFile() as file:
                    files[file.name] = file
                case BackupLink():
                    pass
        if header is None:
            raise self._damaged("its manifest is not whole")
        if header.schema_version > SCHEMA_VERSION:
            raise InvalidError(
                f"{self._path} was made by Steelyard {header.harness_version} with schema version "
                f"{header.schema_version}; this one reads {SCHEMA_VERSION}. Use that version"
            )
        return _Contents(header, files)

    def _members(self) -> Iterator[tuple[str, int, Iterator[bytes]]]:
        """The members in order: name, size, and bytes that must be read before the next."""
        with (
            _Bounded(self._path.open("rb")) as stream,
            tarfile.open(fileobj=stream, mode="r:") as tar,
        ):
            while member := tar.next():
                tar.members = []  # pyright: ignore[reportAttributeAccessIssue] - it keeps them all
                if not member.isreg() or member.issparse():
                    raise self._damaged(f"{member.name[:200]!r} is no plain file")
                yield member.name, member.size, _chunks(cast(BinaryIO, tar.extractfile(member)))

    @contextmanager
    def _reading(self) -> Generator[None]:
        """Say of whatever is wrong with the file that it is damaged."""
        try:
            yield
        except _DAMAGED as error:
            raise self._damaged(str(error)) from None

    def _damaged(self, reason: str) -> UnreadableFileError:
        return UnreadableFileError(
            f"{self._path} is no back-up, or is damaged: {reason}; nothing was restored"
        )


class _Bounded:
    """A file of which no more than a bound is read at once: tar headers may ask for anything."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def __enter__(self) -> BinaryIO:
        return cast(BinaryIO, self)

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _MOST_HEADER:
            raise ValueError("a header is too long")
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        yield chunk


def _require_sound(path: Path) -> None:
    """Refuse a database with faults, although its bytes are as they were."""
    if not is_sound(path):
        raise UnreadableFileError("the database of the back-up is damaged; nothing was restored")
