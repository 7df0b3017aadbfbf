"""The files of a project together with the datasets that wait in its spool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from steelyard.model.upload import upload_of
from steelyard.ports import Files, FilesOfUpload, FoundPath, Workspace
from steelyard.store.artifacts import digest_of
from steelyard.store.spool.uploads import Spool


class UploadWorkspace:
    """A workspace in which `upload/<id>.json` is the plain text of an upload.

    It is decrypted while it is read, and shows no other file.
    """

    def __init__(self, workspace: Workspace, spool: Spool) -> None:
        self._workspace = workspace
        self._spool = spool

    def expand(self, patterns: Sequence[str]) -> list[FoundPath]:
        """The files that paths, folders and globs stand for; never uploads."""
        return self._workspace.expand(patterns)

    def open(self, path: Path) -> BinaryIO:
        """The bytes of a file or an upload."""
        upload_id = upload_of(path)
        return self._spool.open(upload_id) if upload_id else self._workspace.open(path)

    def is_file(self, path: Path) -> bool:
        """Whether there is such a file or upload."""
        upload_id = upload_of(path)
        return self._spool.has(upload_id) if upload_id else self._workspace.is_file(path)

    def size(self, path: Path) -> int:
        """How many bytes a file or the plain text of an upload has."""
        upload_id = upload_of(path)
        return self._spool.digest(upload_id).size if upload_id else self._workspace.size(path)

    def files_of(self, path: Path) -> Files:
        """The files that one eval file may show; an upload has none."""
        return FilesOfUpload() if upload_of(path) else self._workspace.files_of(path)

    def sha256(self, path: Path) -> str:
        """The sha256 of a file, or of the plain text of an upload."""
        upload_id = upload_of(path)
        return self._spool.digest(upload_id).sha256 if upload_id else digest_of(path).sha256
