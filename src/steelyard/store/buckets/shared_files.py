"""What a project keeps in files beside its store, in a bucket that its hosts share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from steelyard.store.buckets.bucket_inputs import BucketInputs
from steelyard.store.buckets.bucket_once import BucketOnceFiles
from steelyard.store.buckets.bucket_runs import BucketRuns
from steelyard.store.buckets.bucket_spool import BucketSpool, require_same_key
from steelyard.store.registry import FileRegistry
from steelyard.store.spool.spool_key import spool_key
from steelyard.store.validations import ValidationFolder

_REGISTRY, _SPOOL, _INPUTS = "registry", "spool", "inputs"


class SharedFiles:
    """Hosts that share a database and a bucket need no common folder; each has copies."""

    def __init__(self, data: Path, runs: BucketRuns, new_id: Callable[[], str]) -> None:
        self._data = data
        self._bucket = runs.bucket
        self._new_id = new_id
        files = BucketOnceFiles(data / _REGISTRY, runs.bucket, runs.require_ready)
        self.registry = FileRegistry(data / _REGISTRY, files)
        self.validations = ValidationFolder(data / _REGISTRY, files)

    @cached_property
    def spool(self) -> BucketSpool:
        """The posted datasets whose runs have not ended."""
        return self._sealed(_SPOOL)

    @cached_property
    def inputs(self) -> BucketInputs:
        """What queued runs read."""
        return BucketInputs(self._data, self._sealed(_INPUTS))

    @cached_property
    def _key(self) -> bytes:
        return require_same_key(self._bucket, spool_key(self._data))

    def _sealed(self, prefix: str) -> BucketSpool:
        folder = self._data / _SPOOL
        return BucketSpool(folder, lambda: self._key, self._new_id, self._bucket, prefix)
