"""Artifacts in a bucket: parts leave while a file is written; what stays here is a copy.

Whoever seals a run has a folder of its own for the files. The manifest has one key for all, which
is created only if it is not there yet: that is the commit, and it names the folder.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from steelyard.errors import SealedElsewhereError, UnavailableError
from steelyard.results.artifacts import MANIFEST
from steelyard.store.artifacts import ArtifactFolder, Elsewhere
from steelyard.store.buckets.bucket import Bucket, UploadStream


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

    def _elsewhere(self, name: str) -> Elsewhere:
        if name == MANIFEST:
            return _Manifest(self._bucket, key_of(self.folder.name, None, name))
        return _Streamed(self._bucket, key_of(self.folder.name, self.writer, name))


class _Streamed:
    """A file of which every full part is uploaded at once.

    A store that is away for a while, or a file of more parts than S3 takes, is no loss: the file
    is then uploaded as a whole once it is written.
    """

    def __init__(self, bucket: Bucket, key: str) -> None:
        self._bucket = bucket
        self._key = key
        self._stream: UploadStream | None = bucket.stream(key)

    def write(self, data: bytes) -> None:
        """Append, unless an earlier part was lost."""
        if self._stream:
            try:
                if not self._stream.write(data):
                    self._stream = None
            except UnavailableError:
                self._stream = None

    def commit(self, path: Path) -> None:
        """Complete the upload, or upload the file."""
        if self._stream:
            with suppress(UnavailableError):
                self._stream.end()
                return
        self._bucket.upload(self._key, path)


class _Manifest:
    """The manifest, which is created only where there is none."""

    def __init__(self, bucket: Bucket, key: str) -> None:
        self._bucket = bucket
        self._key = key

    def write(self, data: bytes) -> None:
        """Nothing leaves before it is whole."""

    def commit(self, path: Path) -> None:
        """Create it: that is the commit of the run."""
        if not self._bucket.create(self._key, path.read_bytes()):
            raise SealedElsewhereError(
                f"{self._bucket.address}/{self._key} is sealed; a correction needs a new run"
            )
