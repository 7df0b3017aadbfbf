"""Hashes of files, remembered as long as nothing about a file has changed."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from steelyard.results.sealing import Seal
from steelyard.store.artifacts import digest_of

_MOST = 10_000


class KnownDigests:
    """Hashes a file when it is first asked for, and again when its size or times have changed.

    Whoever writes to a file changes its times. What a disk loses by itself, `verify` finds.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, ...], Seal] = OrderedDict()
        self._lock = Lock()

    def of(self, path: Path) -> Seal:
        """Hash and size of a file."""
        found = path.stat()
        key = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        seal = digest_of(path)
        with self._lock:
            self._known[key] = seal
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return seal
