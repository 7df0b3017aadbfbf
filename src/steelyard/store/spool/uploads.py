"""Posted datasets on disk, encrypted, until their runs end.

A file is a magic number, a salt, and chunks. Each chunk is sealed with XChaCha20-Poly1305; its
nonce is the salt and its number. The last chunk holds the sha256 and the size of the plain text,
so that a file that was cut off is noticed.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from steelyard.errors import SourceError, UnavailableError
from steelyard.model.upload import upload_of
from steelyard.store.artifacts import sync_folder
from steelyard.store.file_locks import hold, is_let_go
from steelyard.store.private_files import make_private_folder, private
from steelyard.store.spool.spool_key import require_valid_key

CHUNK = 1024 * 1024
KEPT_S = 7 * 24 * 3600.0
"""How long an upload is kept whose run has not ended."""
_DRAFT = ".part"
DRAFT_S = 3600.0
"""How long one is kept that no run needs: it may not have its run yet."""
_JUST_MADE_S = 10.0
_MAGIC = b"SYSPOOL1"
_SALT = 16
_TAG = 16
_DIGEST = 32
_LAST = _DIGEST + 8 + _TAG
_DATA, _END = b"data", b"end"


class UploadDigest(NamedTuple):
    """What is known of an upload's plain text."""

    sha256: str
    size: int


class SpoolWriter:
    """Encrypts an upload chunk by chunk; no plain text is ever written."""

    def __init__(
        self, folder: Path, key: bytes, upload_id: str, commit: Callable[[Path], None]
    ) -> None:
        self.upload_id = upload_id
        self._commit = commit
        """What must succeed with the whole file before it takes its name."""
        self._path = folder / upload_id
        self._draft = folder / f"{upload_id}{_DRAFT}"
        self._left = bytearray()
        self._hash = hashlib.sha256()
        self._size = 0
        self._chunks = 0
        self._key, self._salt = key, secrets.token_bytes(_SALT)
        with _written():
            self._stream = open(self._draft, "xb", opener=private)  # noqa: SIM115 - closed by `end`
            # Whoever finds the lock free knows that this process is gone.
            hold(self._stream)
            self._stream.write(_MAGIC + self._salt)

    @property
    def size(self) -> int:
        """How many bytes were written so far."""
        return self._size

    def write(self, data: bytes) -> None:
        """Add bytes of the plain text."""
        self._hash.update(data)
        self._size += len(data)
        self._left += data
        while len(self._left) >= CHUNK:
            self._seal(bytes(self._left[:CHUNK]), _DATA)
            del self._left[:CHUNK]

    def end(self) -> UploadDigest:
        """Seal the rest and put the file in its place."""
        if self._left:
            self._seal(bytes(self._left), _DATA)
        digest = UploadDigest(self._hash.hexdigest(), self._size)
        self._seal(self._hash.digest() + self._size.to_bytes(8, "big"), _END)
        with _written():
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._stream.close()
            self._commit(self._draft)
            self._draft.replace(self._path)
            sync_folder(self._path.parent)
        return digest

    def give_up(self) -> None:
        """Remove what was written; nothing where the file is in its place."""
        with suppress(OSError):
            self._stream.close()
        with suppress(OSError):
            self._draft.unlink(missing_ok=True)

    def _seal(self, plain: bytes, kind: bytes) -> None:
        from nacl.bindings import (  # noqa: PLC0415 - runs on this machine post nothing
            crypto_aead_xchacha20poly1305_ietf_encrypt as encrypt,
        )

        nonce = _nonce(self._salt, self._chunks)
        sealed = encrypt(plain, kind, nonce, self._key)
        self._chunks += 1
        with _written():
            self._stream.write(sealed)


class SpoolReader(io.RawIOBase):
    """The plain text of an upload as a stream."""

    def __init__(self, path: Path, key: bytes) -> None:
        super().__init__()
        self._name = path.name
        self._file = path.open("rb")
        begin = self._file.read(len(_MAGIC) + _SALT)
        if not begin.startswith(_MAGIC):
            self._file.close()
            raise SourceError(f"the upload {self._name} is damaged; post the dataset again")
        self._key, self._salt = key, begin[len(_MAGIC) :]
        self._end = os.fstat(self._file.fileno()).st_size - _LAST
        self._chunks = 0
        self._plain = memoryview(b"")

    def readable(self) -> bool:
        """It is read from and nothing else."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The next bytes of the plain text; 0 at the end."""
        if not self._plain:
            self._plain = memoryview(self._next())
        count = min(len(buffer), len(self._plain))
        buffer[:count] = self._plain[:count]
        self._plain = self._plain[count:]
        return count

    def digest(self) -> UploadDigest:
        """The hash and size of the plain text; as it was never read, they must be believed."""
        size = self._end - len(_MAGIC) - _SALT
        chunks = -(-size // (CHUNK + _TAG))
        self._file.seek(self._end)
        last = self._opened(self._file.read(_LAST), chunks, _END)
        return UploadDigest(last[:_DIGEST].hex(), int.from_bytes(last[_DIGEST:], "big"))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def _next(self) -> bytes:
        left = self._end - self._file.tell()
        if left <= 0:
            return b""
        plain = self._opened(self._file.read(min(left, CHUNK + _TAG)), self._chunks, _DATA)
        self._chunks += 1
        return plain

    def _opened(self, sealed: bytes, number: int, kind: bytes) -> bytes:
        from nacl.bindings import (  # noqa: PLC0415 - runs on this machine post nothing
            crypto_aead_xchacha20poly1305_ietf_decrypt as decrypt,
        )
        from nacl.exceptions import CryptoError  # noqa: PLC0415

        try:
            nonce = _nonce(self._salt, number)
            return decrypt(sealed, kind, nonce, self._key)
        except (CryptoError, ValueError):
            raise SourceError(
                f"the upload {self._name} cannot be decrypted: it is damaged, or the key of the "
                "spool was replaced; post the dataset again"
            ) from None


class Spool:
    """The uploads of a project."""

    def __init__(self, folder: Path, key: Callable[[], bytes], new_id: Callable[[], str]) -> None:
        self._folder = folder
        self._key = key
        self._new_id = new_id

    def require_ready(self) -> None:
        """Refuse a key that is none."""
        require_valid_key()

    def writer(self, quota: int | None = None) -> SpoolWriter:
        """A new upload; an error where all of them have used up a quota."""
        if quota is not None and self.used() >= quota:
            raise UnavailableError(
                "too many uploads are waiting for their runs; try again when some have ended"
            )
        return self.writer_of(self._new_id())

    def writer_of(self, upload_id: str) -> SpoolWriter:
        """The same with an id of its own."""
        with _written():
            make_private_folder(self._folder)
        commit = partial(self._commit, upload_id)
        return SpoolWriter(self._folder, self._key(), upload_id, commit)

    def used(self) -> int:
        """The bytes of all uploads."""
        total = 0
        for path in self._files():
            with suppress(OSError):
                total += path.stat().st_size
        return total

    def path(self, upload_id: str) -> Path:
        """Where an upload is kept."""
        return self._folder / upload_id

    def has(self, upload_id: str) -> bool:
        """Whether an upload is still there."""
        return self.path(upload_id).is_file()

    def open(self, upload_id: str) -> BinaryIO:
        """The plain text as a stream."""
        return io.BufferedReader(SpoolReader(self.path(upload_id), self._key()))

    def digest(self, upload_id: str) -> UploadDigest:
        """The sha256 and size of the plain text."""
        with SpoolReader(self.path(upload_id), self._key()) as reader:
            return reader.digest()

    def delete(self, name: Path) -> None:
        """Remove the upload that a dataset's name stands for; any other name means nothing."""
        upload_id = upload_of(name)
        if upload_id:
            self.remove(upload_id)

    def remove(self, upload_id: str) -> None:
        """Remove an upload."""
        self.forget_copy(upload_id)

    def forget_copy(self, upload_id: str) -> None:
        """Remove the file that is here."""
        (self._folder / upload_id).unlink(missing_ok=True)

    def sweep(self, needed: Collection[str], now: float | None = None) -> int:
        """Remove all that are older than a week, and those that nobody needs; how many.

        An upload that is younger than an hour may not have its run yet. A draft goes as soon as
        the process that wrote it is gone.
        """
        removed = 0
        moment = time.time() if now is None else now
        for path in self._files():
            most = KEPT_S if path.name in needed else DRAFT_S
            with suppress(OSError):
                if moment - path.stat().st_mtime > most or _is_left(path, moment):
                    path.unlink()
                    removed += 1
        return removed

    def _commit(self, upload_id: str, path: Path) -> None:
        """Its name here is all that an upload needs."""

    def _files(self) -> Iterator[Path]:
        return self._folder.iterdir() if self._folder.is_dir() else iter(())


def _is_left(path: Path, moment: float) -> bool:
    """Whether the writer of a draft is gone; one that was just made may not be locked yet."""
    if path.suffix != _DRAFT or moment - path.stat().st_mtime < _JUST_MADE_S:
        return False
    with path.open("rb") as draft:
        return is_let_go(draft)


@contextmanager
def _written() -> Generator[None]:
    """Turn an error of the disk into one of the service."""
    try:
        yield
    except OSError as error:
        raise UnavailableError(f"cannot keep the upload: {error.strerror}") from None


def _nonce(salt: bytes, number: int) -> bytes:
    return salt + number.to_bytes(8, "big")
