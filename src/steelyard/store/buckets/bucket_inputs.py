"""What queued runs read, for workers on every host: one encrypted object for each run."""

from __future__ import annotations

import secrets
import tarfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Protocol, cast

from steelyard.errors import RunError, SourceError
from steelyard.store.buckets.bucket_spool import BucketSpool
from steelyard.store.file_names import remove_what_can_be
from steelyard.store.private_files import make_private_folder, private
from steelyard.store.spool.run_inputs import LEFT_S, InputFolder

_CHUNK = 1 << 20


class BucketInputs(InputFolder):
    """`inputs/<run_id>` in the bucket holds the folder of that name here.

    It is encrypted as uploads are: the files of a dataset are not redacted yet.
    """

    def __init__(self, data: Path, sealed: BucketSpool) -> None:
        super().__init__(data)
        self._sealed = sealed

    def keep(
        self,
        run_id: str,
        files: Mapping[Path, Path],
        contents: Mapping[Path, bytes],
        settings: bytes,
    ) -> None:
        """Put files and contents into the bucket, by their places; whoever executes the run
        has a copy meanwhile."""
        super().keep(run_id, files, contents, settings)
        try:
            self._pack(run_id)
        finally:
            super().delete(run_id)

    def folder(self, run_id: str) -> Path | None:
        """Where a run finds what it reads; what another host has kept is copied."""
        if not (self._folder / run_id).is_dir() and self._sealed.has(run_id):
            self._unpack(run_id)
        return super().folder(run_id)

    def delete(self, run_id: str) -> None:
        """Remove what was kept for a run, here and in the bucket."""
        self._sealed.remove(run_id)
        super().delete(run_id)

    def left(self) -> Iterator[str]:
        """The runs for which files are kept since an hour or more, here or in the bucket."""
        here = set(super().left())
        yield from here
        for one in self._sealed.kept():
            name = one.key.rpartition("/")[2]
            if name not in here and time.time() - one.written_at > LEFT_S:
                yield name

    def _pack(self, run_id: str) -> None:
        draft = self._sealed.writer_of(run_id)
        try:
            # It is only written to; the type asks for more.
            with tarfile.open(fileobj=cast("IO[bytes]", draft), mode="w|") as archive:
                folder = self._folder / run_id
                for path in filter(Path.is_file, sorted(folder.rglob("*"))):
                    _add(archive, path, f"{run_id}/{path.relative_to(folder).as_posix()}")
            draft.end()
        finally:
            draft.give_up()
        self._sealed.forget_copy(run_id)

    def _unpack(self, run_id: str) -> None:
        """Make the folder of a run at once; another process may be faster."""
        part = self._folder / f".{run_id}.{secrets.token_hex(4)}"
        try:
            make_private_folder(part)
            with (
                self._sealed.open(run_id) as stream,
                tarfile.open(fileobj=stream, mode="r|") as archive,
            ):
                for member in archive:
                    _write(part / _place(run_id, member), archive.extractfile(member))
            self._name(part, run_id)
        except tarfile.TarError:
            raise _damaged(run_id) from None
        except OSError as error:
            raise RunError(f"cannot copy the inputs of {run_id}: {error.strerror}") from None
        finally:
            remove_what_can_be(part)
            self._sealed.forget_copy(run_id)

    def _name(self, part: Path, run_id: str) -> None:
        try:
            part.rename(self._folder / run_id)
        except OSError:
            if not (self._folder / run_id).is_dir():
                raise


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    member = tarfile.TarInfo(name)
    member.size = path.stat().st_size
    with path.open("rb") as stream:
        archive.addfile(member, stream)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _place(run_id: str, member: tarfile.TarInfo) -> PurePosixPath:
    """Where a file belongs; the inputs of another run are refused, too."""
    place = PurePosixPath(member.name)
    if not member.isreg() or place.parts[:1] != (run_id,) or ".." in place.parts:
        raise _damaged(run_id)
    return place.relative_to(run_id)


def _write(path: Path, source: _Readable | None) -> None:
    assert source
    make_private_folder(path.parent)
    with open(path, "xb", opener=private) as stream:
        while chunk := source.read(_CHUNK):
            stream.write(chunk)


def _damaged(run_id: str) -> SourceError:
    return SourceError(f"the inputs kept for {run_id} are damaged; cancel it and start a new run")
