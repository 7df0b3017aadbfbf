"""Back-ups: one tar file of a project's data, made while the project is in use."""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import tarfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

import msgspec

from steelyard.errors import ConflictError, InvalidError, RunError
from steelyard.model.run import TERMINAL
from steelyard.results.artifacts import ARTIFACTS
from steelyard.results.backup import (
    BACKUP_MANIFEST,
    DATABASE,
    FORMAT,
    BackupFile,
    BackupHeader,
    BackupSummary,
)
from steelyard.results.pruned import PRUNED
from steelyard.store.artifacts import digest_of, sync_folder
from steelyard.store.backups.database_copies import copied_runs, copy_database
from steelyard.store.file_names import remove_what_can_be, take_name
from steelyard.store.private_files import make_private_folder, private
from steelyard.store.spool.run_inputs import InputFolder
from steelyard.store.tables import SCHEMA_VERSION


class BackupWriter:
    """Writes the data of a project to a file.

    The database comes first: what it knows to be finished has its artifacts by then. The inputs of
    queued runs are left out: a restored project does not execute them.
    """

    def __init__(self, data: Path, harness_version: str) -> None:
        self._data = data
        self._version = harness_version

    def write(self, out: Path, created_at: str) -> BackupSummary:
        """Make the file; it is whole when it appears, and one that is there is refused."""
        if out.exists():
            raise ConflictError(f"{out} is there already; choose another name")
        header = BackupHeader(
            format=FORMAT,
            harness_version=self._version,
            schema_version=SCHEMA_VERSION,
            created_at=created_at,
        )
        part = out.with_name(f".{out.name}.{secrets.token_hex(4)}.part")
        try:
            with self._scratch(out.parent) as scratch, open(part, "xb", opener=private) as stream:
                summary = _Archive(stream, scratch, self._data).fill(header)
                stream.flush()
                os.fsync(stream.fileno())
            take_name(part, out)
            sync_folder(out.parent)
        except FileExistsError:
            raise ConflictError(f"{out} is there already; choose another name") from None
        except OSError as error:
            raise RunError(f"cannot write {out}: {error.strerror or error}") from None
        finally:
            part.unlink(missing_ok=True)
        return msgspec.structs.replace(summary, sha256=digest_of(out).sha256)

    @contextmanager
    def _scratch(self, beside: Path) -> Generator[Path]:
        """A folder with the copied database."""
        scratch = beside / f".backup-{secrets.token_hex(4)}"
        try:
            make_private_folder(scratch)
            kept = InputFolder(self._data).runs()
            copy_database(self._data / DATABASE, scratch / DATABASE, kept)
            yield scratch
        finally:
            remove_what_can_be(scratch)


def refuse_server(program: str) -> NoReturn:
    """Refuse what is made of files, where a server holds the store."""
    raise InvalidError(
        f"the store of this project is a PostgreSQL database: use {program} for it, and copy the "
        "folder .steelyard beside it (see docs/postgresql.md)"
    )


class _Archive:
    """One tar file that is being written, and its manifest."""

    def __init__(self, stream: BinaryIO, scratch: Path, data: Path) -> None:
        self._tar = tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT)  # noqa: SIM115 - closed by `fill`
        self._scratch = scratch
        self._data = data
        self._lines = open(scratch / BACKUP_MANIFEST, "x+b", opener=private)  # noqa: SIM115 - the same
        self._files = 0
        self._size = 0

    def fill(self, header: BackupHeader) -> BackupSummary:
        """Write everything."""
        with self._tar, self._lines:
            self._note(header)
            self._add(DATABASE, self._scratch / DATABASE)
            runs = self._add_runs()
            for path in _files(self._data / "registry"):
                self._add(path.relative_to(self._data).as_posix(), path)
            # Last: what was pruned meanwhile is known as pruned.
            self._add(PRUNED, self._data / PRUNED)
            self._lines.flush()
            self._write(BACKUP_MANIFEST, self._scratch / BACKUP_MANIFEST)
        return BackupSummary(
            files=self._files, size=self._size, runs=runs, created_at=header.created_at
        )

    def _add_runs(self) -> int:
        """The artifacts of runs that have ended; others are sealed anew when they are resumed."""
        count = 0
        for run_id, status in copied_runs(self._scratch / DATABASE):
            count += 1
            for name in ARTIFACTS if status in TERMINAL else ():
                self._add(f"runs/{run_id}/{name}", self._data / "runs" / run_id / name)
        return count

    def _add(self, name: str, path: Path) -> None:
        """A file, unless it is gone by now."""
        with suppress(FileNotFoundError):
            self._note(self._write(name, path))
            self._files += 1

    def _write(self, name: str, path: Path) -> BackupFile:
        with path.open("rb") as stream:
            member = tarfile.TarInfo(name)
            member.size, member.mode = os.fstat(stream.fileno()).st_size, 0o600
            hashed = _Hashed(stream)
            self._tar.addfile(member, hashed)
        self._tar.members = []  # pyright: ignore[reportAttributeAccessIssue] - it keeps them all
        self._size += member.size
        return BackupFile(name=name, sha256=hashed.digest.hexdigest(), size=member.size)

    def _note(self, line: msgspec.Struct) -> None:
        self._lines.write(msgspec.json.encode(line) + b"\n")


class _Hashed(io.RawIOBase):
    """A stream that is hashed while it is read."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self.digest = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        found = self._stream.read(size)
        self.digest.update(found)
        return found


def _files(folder: Path) -> Iterator[Path]:
    """Every file beneath a folder but drafts, in order; links are not followed."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if not name.endswith(".part") and not path.is_symlink():
                yield path
