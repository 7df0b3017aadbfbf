"""Datasets of the registry, opened as if they were still at their original paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from steelyard.errors import NotFoundError
from steelyard.formats.names import did_you_mean
from steelyard.model.published import Published, dataset_name
from steelyard.ports import Files, FoundPath, Workspace
from steelyard.usecases.registry.registry import Registry


class PublishedDataset(NamedTuple):
    """A dataset at its original path, with the current paths of its files."""

    published: Published
    path: Path
    files: Mapping[Path, Path]


def find_dataset(registry: Registry, root: Path, reference: str) -> PublishedDataset:
    """The published dataset for `dataset/id@version`; raises if there is none."""
    known = registry.all("dataset")
    found = next((one for one in known if one.reference == reference), None)
    if found is None:
        raise NotFoundError(_nothing(reference, known))
    path = root / found.source
    places = [path.with_name(file.name) for file in found.files]
    stored = [registry.place(file.sha256) for file in found.files]
    for file in stored:
        if not file.is_file():
            raise NotFoundError(f"the content of {reference} is gone: {file}")
    return PublishedDataset(found, path, dict(zip(places, stored, strict=True)))


def _nothing(reference: str, known: Sequence[Published]) -> str:
    name = dataset_name(reference)
    versions = [one.reference for one in known if name and one.id == name[0]]
    if versions:
        return f"{reference} is not published; published are {', '.join(versions)}"
    hint = did_you_mean(name[0], {one.id for one in known}) if name else None
    near = f" ({hint})" if hint else ""
    return f"{reference} is not published{near}; `steelyard dataset list` shows what is"


class Staged:
    """The user's files, some of them replaced by others."""

    def __init__(self, workspace: Workspace, instead: Mapping[Path, Path]) -> None:
        self._workspace = workspace
        self._instead = instead

    def expand(self, patterns: Sequence[str]) -> list[FoundPath]:
        """The same as without replacements."""
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
        """The files that an eval file may use."""
        return self._workspace.files_of(path)
