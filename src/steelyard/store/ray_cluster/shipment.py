"""What a worker on another machine reads: the files of the project, and a run as it stands.

Written as one archive, in pieces that fit into any object store, and unpacked on the node into a
folder that is a project of its own, with a database of this run alone.
"""

from __future__ import annotations

import io
import secrets
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from sqlalchemy import Table, insert, select

from steelyard.results.stored_run import StoredRun, require_plan
from steelyard.store.database import open_database, streamed
from steelyard.store.private_files import STEELYARD_FOLDER
from steelyard.store.ray_cluster.sent_files import ShippedFiles
from steelyard.store.spool.spool_key import KEY_BYTES
from steelyard.store.spool.uploads import CHUNK, Spool
from steelyard.store.tables import (
    answered,
    answers,
    attempts,
    judgements,
    results,
    runs,
    saved_definitions,
    saved_settings,
)

if TYPE_CHECKING:
    from sqlalchemy import Engine

PIECE = 8 * 1024 * 1024
_DATABASE = "steelyard.db"
_OF_RUN = (runs, results, attempts, answers, answered, judgements)
_OF_PROJECT = (saved_settings, saved_definitions)
_AT_ONCE = 500


class Pieces(io.RawIOBase):
    """A stream that puts what is written away, piece by piece."""

    def __init__(self, put: Callable[[bytes], Any]) -> None:
        self._put = put
        self._waiting = bytearray()
        self.kept: list[Any] = []
        self.size = 0

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any, /) -> int:
        """Add to the piece that is being filled."""
        self._waiting += data
        self.size += len(data)
        while len(self._waiting) >= PIECE:
            self.kept.append(self._put(bytes(self._waiting[:PIECE])))
            del self._waiting[:PIECE]
        return len(data)

    def finish(self) -> list[Any]:
        """The pieces as they were put away."""
        if self._waiting:
            self.kept.append(self._put(bytes(self._waiting)))
            self._waiting.clear()
        return self.kept


class _Joined(io.RawIOBase):
    """Pieces as one stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


def pack_files(sent: ShippedFiles, out: Pieces) -> None:
    """Write files at their places."""
    with _archive(out) as archive:
        for place, source in sent.places.items():
            archive.add(source, str(place.relative_to(sent.above)), recursive=False)


def pack_upload(spool: Spool, upload_id: str, out: Pieces) -> bytes:
    """Write a posted dataset, sealed with a key for this run alone; the key.

    The key of the project's spool opens all uploads, and stays here.
    """
    key = secrets.token_bytes(KEY_BYTES)
    with tempfile.TemporaryDirectory(prefix="steelyard-upload-") as folder:
        draft = Spool(Path(folder), lambda: key, lambda: upload_id).writer()
        try:
            with spool.open(upload_id) as plain:
                while data := plain.read(CHUNK):
                    draft.write(data)
            draft.end()
        finally:
            draft.give_up()
        with _archive(out) as archive:
            archive.add(Path(folder) / upload_id, f"{STEELYARD_FOLDER}/spool/{upload_id}")
    return key


def pack_run(engine: Engine, run: StoredRun, out: Pieces) -> None:
    """Write a database with the rows of a run, or of all whose answers it may use."""
    has_all = require_plan(run).options.cache
    with tempfile.TemporaryDirectory(prefix="steelyard-run-") as folder:
        path = Path(folder) / _DATABASE
        copy = open_database(path)
        try:
            for table in _OF_RUN:
                _copy(engine, copy, table, None if has_all else run.run_id)
            for table in _OF_PROJECT:
                _copy(engine, copy, table, None)
        finally:
            copy.dispose()
        with _archive(out) as archive:
            for part in sorted(Path(folder).iterdir()):
                archive.add(part, f"{STEELYARD_FOLDER}/{part.name}")


def unpack(pieces: Iterator[bytes], folder: Path) -> None:
    """Read an archive into a folder."""
    stream = cast(IO[bytes], io.BufferedReader(_Joined(pieces), PIECE))
    with tarfile.open(mode="r|", fileobj=stream) as archive:
        archive.extractall(folder, filter="data")


def _archive(out: Pieces) -> tarfile.TarFile:
    return tarfile.open(
        mode="w|", fileobj=cast(IO[bytes], out), format=tarfile.PAX_FORMAT, dereference=True
    )


def _copy(engine: Engine, copy: Engine, table: Table, run_id: str | None) -> None:
    query = select(table)
    if run_id is not None:
        query = query.where(table.c.run_id == run_id)
    with copy.begin() as connection:
        for rows in _batches(streamed(engine, query)):
            connection.execute(insert(table), rows)


def _batches(rows: Iterable[Any]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(dict(row._mapping))  # noqa: SLF001 - the documented name of SQLAlchemy
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
