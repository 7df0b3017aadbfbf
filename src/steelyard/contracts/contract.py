"""The declaration of a contract: how its files are detected, read, written and converted."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, BinaryIO, Literal, TypeAlias

from msgspec import field

from steelyard.contracts.reading import DatasetReading
from steelyard.errors import ConfigError
from steelyard.formats.lines import Located
from steelyard.model.dataset import Dataset
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.ports import Files, NoFiles

Kind: TypeAlias = Literal["dataset", "rubric", "judge"]
Lazy: TypeAlias = str | Callable[..., Any]
"""A function or value, or its `module:name`, which is imported when it is first used."""

EXTENSIONS = (".json", ".jsonl", ".yaml", ".yml")
DOCUMENTS = (".json", ".yaml", ".yml")


class DatasetFile(FrozenStruct, frozen=True, kw_only=True):
    """A file as a reader gets it."""

    name: str
    """The name of the file without its extension."""
    content: bytes | Located | Callable[[], BinaryIO]
    """JSON as bytes, YAML with its lines, or what opens a file that is read line by line."""
    path: str | None = None
    files: Files = field(default_factory=NoFiles)
    """The files that its cases may show."""
    sidecar: Located | None = None
    """The YAML file beside rows, where the contract has one and it can be read."""
    is_made: bool = False
    """Whether an importer made the rows, so that their texts stand for themselves."""


Reader: TypeAlias = Callable[[DatasetFile], DatasetReading]


class Contract(FrozenStruct, frozen=True, kw_only=True):
    """One contract; what a package may leave out has a default."""

    name: str
    described: str
    """The description of its files in messages: their name and how they are detected."""
    kind: Kind = "dataset"
    package: str = ""
    """The package that holds `NAME.schema.json`."""
    schema_version: str = ""
    """What its datasets call their own version; without one, the name of the contract."""

    keys: tuple[str, ...] = ()
    """The top-level keys of its documents; any of them identifies the contract."""
    item_keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """By top-level key, the key of a listed item that identifies it, if the first does not."""
    documents: tuple[str, ...] = DOCUMENTS
    """The extensions of documents that are detected by their keys."""
    row_keys: tuple[str, ...] = ()
    """The keys of the first row of a JSONL file; any of them identifies the contract."""
    lines: tuple[str, ...] = ()
    """The extensions of its files that are read line by line."""
    default_for: tuple[str, ...] = ()
    """The extensions of datasets that belong to it if no key identifies another."""

    reader: Lazy = ""
    """(DatasetFile) -> DatasetReading"""
    wrapper: Lazy = ""
    """(name, rows) -> the content of a file with these rows, which an importer made"""
    columns: Lazy = ""
    """The `Columns` that the cells of a table can fill; without them no table is imported."""
    row_id: str = "id"
    """The field of a row that holds its id."""

    writers: Mapping[str, Lazy] = field(default_factory=dict[str, Lazy])
    """(Dataset) -> bytes, by extension, the usual one first; JSONL is written row by row"""
    sidecar: Lazy = ""
    """(Dataset without cases) -> bytes of the YAML file beside JSONL, where there is one"""
    row: Lazy = ""
    """(Case) -> the row that stands for it"""
    shows_files: bool = False
    """Whether the hash of a record covers the files that it shows."""

    fitter: Lazy = ""
    """(Case, Way) -> the case of another contract as this one can hold it"""
    header_fitter: Lazy = ""
    """(header, HeaderWay) -> what another file says beside its cases, as this one can hold it"""
    missing: Lazy = ""
    """(Case, extension) -> why a case that fits cannot be written in this form, or None"""
    has_one_prompt: bool = False
    """Whether it asks with one text and not with a conversation."""
    names_dataset: bool = False
    """Whether a file says what its dataset is called."""
    writing_aids: frozenset[str] = frozenset()
    """Extra fields that serve to write a row back; the case says the same elsewhere."""
    own_workings: frozenset[str] = frozenset()
    """Extra fields that say how to carry a case out, for which others have no words."""
    restated: frozenset[str] = frozenset()
    """Extra fields of a file that its cases say as well."""
    has_open_header: bool = False
    """Whether version, description and metadata of a file stand among its extra fields."""

    needs_judges: bool = True
    """Whether a case that asks for a judge cannot run on its other checks alone."""

    @property
    def version(self) -> str:
        """What a manifest calls the version of the contract."""
        return self.schema_version or self.name

    @property
    def extensions(self) -> tuple[str, ...]:
        """The forms in which it is written, the usual one first."""
        return tuple(self.writers)

    def part(self, name: str) -> Any:
        """One of the parts that may be imported when they are first used."""
        return self._imported(name, getattr(self, name))

    def open(self, file: DatasetFile) -> DatasetReading:
        """A file of the contract, opened for reading."""
        return self.part("reader")(file)

    def write(self, dataset: Dataset, extension: str) -> bytes:
        """A dataset as a file; of JSONL, the rows alone."""
        return self._imported(f"{extension} writer", self.writers[extension])(dataset)

    def _imported(self, what: str, given: Lazy) -> Any:
        if not isinstance(given, str):
            return given
        try:
            return _imported(given)
        except (ImportError, AttributeError, ValueError) as wrong:
            raise ConfigError(
                f"the contract '{self.name}' has no {what} at '{given}': {wrong}"
            ) from None


_imported = cache(pkgutil.resolve_name)
