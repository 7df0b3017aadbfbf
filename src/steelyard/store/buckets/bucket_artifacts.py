"""Artifacts in a bucket: each is written here first, uploaded whole, and then takes its name here.

Whoever seals a run has a folder of its own for the files. The manifest has one key for all, which
is created only if it is not there yet: that is the commit, and it names the folder.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path

from steelyard.errors import SealedElsewhereError
from steelyard.results.artifacts import MANIFEST
from steelyard.store.artifacts import ArtifactFolder
from steelyard.store.buckets.bucket import Bucket


def key_of(run_id: str, writer: str | None, name: str) -> str:
    """The key of a file of a run; without a writer, of the one file that is there for all."""
    return "/".join(filter(None, ("runs", run_id, writer, name)))


class Writers:
    """The names under which this process seals runs."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def of(self, run_id: str) -> str:
        """The name for a run."""
        return self._names.get(run_id) or self.renew(run_id)

    def renew(self, run_id: str) -> str:
        """Another name: what was uploaded under the one before may have been committed."""
        self._names[run_id] = f"w{secrets.token_hex(8)}"
        return self._names[run_id]


class BucketArtifacts(ArtifactFolder):
    """The artifacts of one run that is being sealed by one writer."""

    def __init__(
        self, folder: Path, bucket: Bucket, writers: Writers, fetch: Callable[[str], Path]
    ) -> None:
        super().__init__(folder)
        self._bucket = bucket
        self._writers = writers
        self._fetch = fetch
        """Makes copies of the files of a sealed run here."""

    @property
    def writer(self) -> str | None:
        """The folder of the files that this process seals."""
        return self._writers.of(self.folder.name)

    def read(self, name: str) -> bytes | None:
        """A sealed artifact, whoever has sealed it; None when it is not there."""
        self._fetch(self.folder.name)
        return super().read(name)

    def clear_drafts(self) -> None:
        """Remove what a stop while finalizing has left here; what follows is another writer's."""
        super().clear_drafts()
        self._writers.renew(self.folder.name)

    def _commit_of(self, name: str) -> Callable[[Path], None] | None:
        return partial(self._create if name == MANIFEST else self._upload, name)

    def _upload(self, name: str, path: Path) -> None:
        self._bucket.upload(key_of(self.folder.name, self.writer, name), path)

    def _create(self, name: str, path: Path) -> None:
        key = key_of(self.folder.name, None, name)
        if not self._bucket.create(key, path.read_bytes()):
            raise SealedElsewhereError(
                f"{self._bucket.address}/{key} is sealed; a correction needs a new run"
            )
