"""Datasets of the registry and the store, opened as if they were at their original paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from steelyard.errors import InvalidError, NotFoundError
from steelyard.formats.names import did_you_mean
from steelyard.model.published import Published, StoredFile, dataset_name
from steelyard.model.saved import SAVED, SavedDefinition
from steelyard.ports import Files, FoundPath, NoFiles, Workspace
from steelyard.usecases.registry.registry import Registry, SavedDefinitions


class PublishedDataset(NamedTuple):
    """A dataset at its original path, with the current paths of its files."""

    published: Published
    """Of a saved one that is not published, what its entry would be."""
    path: Path
    files: Mapping[Path, Path]
    is_saved: bool = False
    """Whether it is in the store and not published."""

    @property
    def main_file(self) -> tuple[StoredFile, Path]:
        """The file with the records, and where it is now; files beside it come after it."""
        return self.published.files[0], next(iter(self.files.values()))


def usable_dataset(
    registry: Registry,
    saved: SavedDefinitions,
    root: Path,
    reference: str,
    began_with: Mapping[str, str] | None = None,
) -> PublishedDataset:
    """The dataset of a reference for a new run; an archived one is refused.

    A run that has begun gets the files that it began with, given by the hashes of their names,
    whatever has become of the version since.
    """
    if began_with is not None:
        return _as_before(registry, root, reference, began_with)
    found = find_dataset(registry, saved, root, reference)
    if found.published.status == "archived":
        raise InvalidError(f"{reference} is archived; name another version")
    return found


def find_dataset(
    registry: Registry, saved: SavedDefinitions, root: Path, reference: str
) -> PublishedDataset:
    """The dataset of `dataset/id@version`, published or saved; raises if there is none."""
    known = registry.all("dataset")
    found = next((one for one in known if one.reference == reference), None)
    if found:
        return _at_its_path(registry, root, found)
    stored = saved.all("dataset")
    held = next((one for one in stored if one.reference == reference), None)
    if held is None:
        raise NotFoundError(_nothing(reference, [*known, *stored]))
    registry.keep(held.sha256, lambda: BytesIO(saved.content(held)))
    return _at_its_path(registry, root, entry_of(held))._replace(is_saved=True)


def _as_before(
    registry: Registry, root: Path, reference: str, began_with: Mapping[str, str]
) -> PublishedDataset:
    for one in registry.all("dataset"):
        files = {file.name: file.sha256 for file in one.files}
        if one.reference == reference and files == dict(began_with):
            return _at_its_path(registry, root, one)
    # A draft that was saved, and may be another one by now; its content is kept for good.
    name = dataset_name(reference)
    assert name
    files = tuple(StoredFile(file, sha256, 0) for file, sha256 in began_with.items())
    draft = Published(
        kind="dataset",
        id=name[0],
        version=name[1],
        contract="",
        sha256=files[0].sha256,
        published_at="",
        source=f"{SAVED}datasets/{files[0].name}",
        files=files,
    )
    return _at_its_path(registry, root, draft)._replace(is_saved=True)


def entry_of(saved: SavedDefinition) -> Published:
    """The entry of the registry that a saved dataset would have."""
    return Published(
        kind="dataset",
        id=saved.id,
        version=saved.version,
        contract=saved.contract,
        sha256=saved.sha256,
        published_at=saved.saved_at,
        source=saved.source,
        files=(StoredFile(f"{saved.id}{saved.extension}", saved.sha256, saved.size),),
        beside={"status": "archived"} if saved.archived_at else {},
    )


def _at_its_path(registry: Registry, root: Path, found: Published) -> PublishedDataset:
    path = root / found.source
    places = [path.with_name(file.name) for file in found.files]
    stored = [registry.place(file.sha256) for file in found.files]
    for file in stored:
        if not file.is_file():
            raise NotFoundError(f"the content of {found.reference} is gone: {file}")
    return PublishedDataset(found, path, dict(zip(places, stored, strict=True)))


def _nothing(reference: str, known: Sequence[Published | SavedDefinition]) -> str:
    name = dataset_name(reference)
    versions = [one.reference for one in known if name and one.id == name[0]]
    if versions:
        return f"there is no {reference}; there is {', '.join(dict.fromkeys(versions))}"
    hint = did_you_mean(name[0], {one.id for one in known}) if name else None
    near = f" ({hint})" if hint else ""
    return f"there is no {reference}{near}; `steelyard dataset list` shows what there is"


class Staged:
    """The user's files, some of them replaced by others."""

    def __init__(self, workspace: Workspace, instead: Mapping[Path, Path]) -> None:
        self._workspace = workspace
        self._instead = instead

    def expand(self, patterns: Sequence[str]) -> list[FoundPath]:
        """The same as without replacements, but for the path of one."""
        named = [Path(pattern) for pattern in patterns]
        if all(path in self._instead for path in named):
            return [FoundPath(path, is_named=True) for path in named]
        return self._workspace.expand(patterns)

    def open(self, path: Path) -> BinaryIO:
        """A file's bytes."""
        return self._workspace.open(self._instead.get(path, path))

    def is_file(self, path: Path) -> bool:
        """Whether the file exists; beside a published file, only published files do."""
        return path in self._instead or (
            path.parent not in {place.parent for place in self._instead}
            and self._workspace.is_file(path)
        )

    def size(self, path: Path) -> int:
        """How many bytes a file has."""
        return self._workspace.size(self._instead.get(path, path))

    def files_of(self, path: Path) -> Files:
        """The files that an eval file may use; one that was sent over HTTP may use none."""
        is_sent = any(part.startswith(SAVED) for part in path.parts)
        return NoFiles() if is_sent else self._workspace.files_of(path)
