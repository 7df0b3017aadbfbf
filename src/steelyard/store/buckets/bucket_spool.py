"""Encrypted files in a bucket, for every host that has the key of the spool."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from steelyard.errors import ConfigError, RunError
from steelyard.store.buckets.bucket import Bucket, ListedObject
from steelyard.store.private_files import make_private_folder, private
from steelyard.store.spool.spool_key import SPOOL_KEY
from steelyard.store.spool.uploads import DRAFT_S, KEPT_S, Spool

_KEY_MARK = "spool-key"


class BucketSpool(Spool):
    """Files that are encrypted here, kept in the bucket, and copied to where they are read."""

    def __init__(
        self,
        folder: Path,
        key: Callable[[], bytes],
        new_id: Callable[[], str],
        bucket: Bucket,
        prefix: str,
    ) -> None:
        super().__init__(folder, key, new_id)
        self._bucket = bucket
        self._prefix = prefix

    def require_ready(self) -> None:
        """Refuse a key that other hosts do not have."""
        self._key()

    def used(self) -> int:
        """The bytes of all files, whoever has written them."""
        return sum(one.size for one in self.kept())

    def kept(self) -> list[ListedObject]:
        """The files in the bucket."""
        return list(self._bucket.list(self._prefix))

    def path(self, upload_id: str) -> Path:
        """A copy of a file; where there is none in the bucket, a path without a file."""
        path = super().path(upload_id)
        if not path.is_file():
            size = self._bucket.size(self._at(upload_id))
            if size is not None:
                self._copy(upload_id, size, path)
        return path

    def has(self, upload_id: str) -> bool:
        """Whether a file is still there."""
        return self._bucket.size(self._at(upload_id)) is not None

    def remove(self, upload_id: str) -> None:
        """Remove a file and its copy."""
        self._bucket.delete([self._at(upload_id)])
        super().remove(upload_id)

    def sweep(self, needed: Collection[str], now: float | None = None) -> int:
        """Remove files after a week, and those that nobody needs, with all copies of them here."""
        moment = time.time() if now is None else now
        removed = 0
        for one in self.kept():
            upload_id = one.key.rpartition("/")[2]
            if moment - one.written_at > (KEPT_S if upload_id in needed else DRAFT_S):
                self.remove(upload_id)
                removed += 1
        return removed + super().sweep(needed, now)

    def _commit(self, upload_id: str, path: Path) -> None:
        self._bucket.upload(self._at(upload_id), path)

    def _copy(self, upload_id: str, size: int, path: Path) -> None:
        make_private_folder(path.parent)
        part = path.with_name(f"{upload_id}.{secrets.token_hex(4)}.copy")
        try:
            with open(part, "xb", opener=private) as stream:
                stream.writelines(self._bucket.parts(self._at(upload_id), size))
            part.replace(path)
        except OSError as error:
            raise RunError(f"cannot write {path}: {error.strerror}") from None
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def _at(self, upload_id: str) -> str:
        return f"{self._prefix}/{upload_id}"


def require_same_key(bucket: Bucket, key: bytes) -> bytes:
    """The key, which is refused where files in the bucket are encrypted with another one."""
    mark = hmac.new(key, b"the key of a spool", hashlib.sha256).hexdigest().encode()
    if not bucket.create(_KEY_MARK, mark):
        raise ConfigError(
            f"the spool in {bucket.address} is encrypted with another key than this host has: set "
            f"{SPOOL_KEY} to the same value on every host. To take a new key, let the runs of the "
            f"queue end and remove {bucket.address}/{_KEY_MARK}"
        )
    return key
