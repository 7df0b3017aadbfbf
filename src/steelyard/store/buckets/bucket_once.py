"""Files that many hosts write once, in a bucket; each host keeps copies of those it has seen."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from steelyard.errors import ConfigError, UnreadableFileError
from steelyard.store.artifacts import digest_of
from steelyard.store.buckets.bucket import Bucket
from steelyard.store.write_once import write_once

_MOVED = ".in-bucket-{}"
_CONTENT = "content"
_FRESH_S = 1.0
"""How long a listing counts: a page asks for the same one many times."""
_AT_ONCE = 8


class BucketOnceFiles:
    """The files beneath a folder of a project's data, under the same names in the bucket.

    What the folder held before there was a bucket is put there first.
    """

    def __init__(self, root: Path, bucket: Bucket, require_ready: Callable[[], None]) -> None:
        self._root = root
        self._bucket = bucket
        self._require_ready = require_ready
        """Refuses a store that overwrites."""
        self._looked: dict[Path, float] = {}
        self._shared: set[Path] = set()
        self._is_moved = False

    def look(self, folder: Path) -> None:
        """Have here what others have written beneath a folder."""
        self._move_in()
        now = time.monotonic()
        if now - self._looked.get(folder, -_FRESH_S) < _FRESH_S:
            return
        found = (self._path(one.key) for one in self._bucket.list(self._key(folder)))
        missing = [path for path in found if not path.exists()]
        if missing:
            with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="steelyard") as pool:
                list(pool.map(self.bring, missing))
        self._looked[folder] = now

    def bring(self, path: Path) -> None:
        """Have one file here, if anybody has written it."""
        if path.exists():
            return
        self._move_in()
        key = self._key(path)
        size = self._bucket.size(key)
        if size is not None:
            write_once(path, self._bucket.parts(key, size))
            if _is_content(path) and digest_of(path).sha256 != path.name:
                path.unlink()
                raise UnreadableFileError(
                    f"{self._bucket.address}/{key} is not what was published"
                )

    def create(self, path: Path, data: bytes) -> bool:
        """Write a file; False where its name is taken, by whichever host."""
        self._move_in()
        self._require_ready()
        if not self._bucket.create(self._key(path), data):
            self.bring(path)
            return False
        write_once(path, (data,))
        return True

    def share(self, path: Path) -> None:
        """Let others have a file that is named by its content."""
        self._move_in()
        if path not in self._shared:
            key = self._key(path)
            if self._bucket.size(key) is None:
                self._bucket.upload(key, path)
            self._shared.add(path)

    def _move_in(self) -> None:
        """Put into the bucket what was written here before; once for each bucket."""
        if self._is_moved:
            return
        address = hashlib.sha256(self._bucket.address.encode()).hexdigest()
        mark = self._root / _MOVED.format(address[:16])
        if not mark.exists():
            self._is_moved = True  # what follows asks again
            try:
                # Contents first: an entry is not seen before what it names.
                for path in sorted(self._written(), key=lambda one: (not _is_content(one), one)):
                    self._move(path)
                write_once(mark, (self._bucket.address.encode() + b"\n",))
            except BaseException:
                self._is_moved = False
                raise
        self._is_moved = True

    def _move(self, path: Path) -> None:
        if _is_content(path):
            self.share(path)
        elif not self.create(path, path.read_bytes()):
            raise ConfigError(
                f"{path} differs from {self._bucket.address}/{self._key(path)}: two registries "
                f"cannot be put together; move {self._root} away to use that of the bucket"
            )

    def _written(self) -> list[Path]:
        names = (path for path in self._root.rglob("*") if not path.name.startswith("."))
        return [path for path in names if path.is_file()]

    def _key(self, path: Path) -> str:
        return f"{self._root.name}/{path.relative_to(self._root).as_posix()}"

    def _path(self, key: str) -> Path:
        return self._root / key.removeprefix(f"{self._root.name}/")


def _is_content(path: Path) -> bool:
    return path.parent.name == _CONTENT
