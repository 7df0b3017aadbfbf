"""The registry on disk: contents by their hash, and an entry for each version, written once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from steelyard.errors import UnreadableFileError
from steelyard.formats.json_fields import fields, object_field, object_list, text_field
from steelyard.model.json_value import Extra, JsonObject
from steelyard.model.published import Published, PublishedKind, StoredFile, version_order
from steelyard.store.content import ContentFolder
from steelyard.store.private_files import STEELYARD_FOLDER
from steelyard.store.write_once import DiskFiles, OnceFiles, write_next

_FOLDER = f"{STEELYARD_FOLDER}/registry"
_ENTRY = "entry.json"
_NOTE = "note-{:06}.json"
_UNVERSIONED = "_"


class FileRegistry:
    """`registry/<kind>/<id>/<version>/` holds an entry and later notes; `content/` the bytes.

    Every file is written whole, linked into place and made read-only. A link fails where the
    name is taken, so that of two processes that publish one version, one wins.
    """

    def __init__(self, folder: Path, files: OnceFiles | None = None) -> None:
        self._folder = folder
        self._files = files or DiskFiles()
        self._content = ContentFolder(folder / "content", self._files)

    def all(self, kind: PublishedKind) -> tuple[Published, ...]:
        """Every version of every id, by id and version."""
        self._files.look(self._folder / kind)
        found = [_read(path) for path in (self._folder / kind).glob(f"*/*/{_ENTRY}")]
        return tuple(sorted(found, key=lambda one: (one.id, version_order(one.version))))

    def add(
        self, published: Published, contents: Mapping[str, Callable[[], BinaryIO]]
    ) -> Published:
        """Fix a version; the one that stands, where another process was faster."""
        for sha256, open_content in contents.items():
            self._content.keep(sha256, open_content)
        place = self._version(published)
        if self._files.create(place / _ENTRY, _entry(published)):
            return published
        return _read(place / _ENTRY)

    def note(self, published: Published, beside: Extra, at: str) -> None:
        """Note what may change under a version, after all that was noted before."""
        note = _json({"noted_at": at, "beside": dict(beside)})
        write_next(self._files, self._version(published), note, _NOTE)

    def place(self, sha256: str) -> Path:
        """The file with this content."""
        place = self._content.place(sha256)
        self._files.bring(place)
        return place

    def keep(self, sha256: str, open_content: Callable[[], BinaryIO]) -> Path:
        """The file with this content, which is written where it is not there yet."""
        self._content.keep(sha256, open_content)
        return self.place(sha256)

    def _version(self, published: Published) -> Path:
        version = published.version or _UNVERSIONED
        return self._folder / published.kind / published.id / version


def project_registry(root: Path) -> FileRegistry:
    """The registry of a project."""
    return FileRegistry(root / _FOLDER)


def _notes(place: Path) -> list[Path]:
    return sorted(place.glob("note-*.json"))


def _read(path: Path) -> Published:
    """An entry with what was noted last."""
    row = _object(path)
    try:
        published = Published(
            kind=cast(PublishedKind, row["kind"]),
            id=text_field(row, "id"),
            version=cast("str | None", row["version"]),
            contract=text_field(row, "contract"),
            sha256=text_field(row, "sha256"),
            published_at=text_field(row, "published_at"),
            source=text_field(row, "source"),
            files=tuple(
                StoredFile(**cast("dict[str, str | int]", file))  # pyright: ignore[reportArgumentType]
                for file in object_list(row, "files")
            ),
            beside=object_field(row, "beside"),
        )
    except (KeyError, TypeError):
        raise _damaged(path) from None
    notes = _notes(path.parent)
    return replace(published, beside=_object(notes[-1])["beside"]) if notes else published


def _object(path: Path) -> JsonObject:
    try:
        return fields(json.loads(path.read_bytes()))
    except OSError as error:
        raise UnreadableFileError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError):
        raise _damaged(path) from None


def _damaged(path: Path) -> UnreadableFileError:
    return UnreadableFileError(f"{path} is damaged: it is not what the registry wrote")


def _entry(published: Published) -> bytes:
    return _json(
        {
            "kind": published.kind,
            "id": published.id,
            "version": published.version,
            "contract": published.contract,
            "sha256": published.sha256,
            "published_at": published.published_at,
            "source": published.source,
            "files": [file._asdict() for file in published.files],
            "beside": dict(published.beside),
        }
    )


def _json(row: JsonObject) -> bytes:
    text = json.dumps(row, ensure_ascii=False, indent=2)
    return text.encode("utf-8", "backslashreplace") + b"\n"
