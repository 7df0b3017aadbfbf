"""The ports of the registry: immutable versions, and what is saved in the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from steelyard.checks.catalog import Catalog
from steelyard.contracts.catalog import Contracts
from steelyard.model.audit import AuditEntry
from steelyard.model.json_value import Extra
from steelyard.model.published import Published, PublishedKind
from steelyard.model.saved import SavedDefinition
from steelyard.ports import AuditLog, CallerPorts, Workspace
from steelyard.settings import Settings
from steelyard.usecases.registry.references import References


class Registry(Protocol):
    """The published versions of a project."""

    def all(self, kind: PublishedKind) -> Sequence[Published]:
        """Every version of every id, by id and version."""
        ...

    def add(
        self, published: Published, contents: Mapping[str, Callable[[], BinaryIO]]
    ) -> Published:
        """Publish a version with its contents by hash; return the existing one if there is one."""
        ...

    def note(self, published: Published, beside: Extra, at: str) -> None:
        """Update the mutable fields of a version."""
        ...

    def place(self, sha256: str) -> Path:
        """The file with this content."""
        ...

    def keep(self, sha256: str, open_content: Callable[[], BinaryIO]) -> Path:
        """The file with this content, which is written where it is not there yet."""
        ...


class SavedDefinitions(Protocol):
    """Rubrics, judges and datasets in the store, as they were sent."""

    def all(self, kind: PublishedKind) -> Sequence[SavedDefinition]:
        """Every version of a kind, without its content."""
        ...

    def content(self, one: SavedDefinition) -> bytes:
        """The bytes of a version."""
        ...

    def changing(self, one: SavedDefinition) -> AbstractContextManager[SavedDefinitionChange]:
        """A change of one version in one transaction; an exception undoes all of it.

        Nobody else can save or publish a saved version meanwhile.
        """
        ...


class SavedDefinitionChange(Protocol):
    """One saved version while nobody else can change it."""

    before: SavedDefinition | None
    """The version as it is stored; None where it is new."""

    def content(self) -> bytes:
        """The bytes of the version before; empty where it is new."""
        ...

    def put(self, one: SavedDefinition, content: bytes, entry: AuditEntry) -> None:
        """Keep the version, in the place of the one before, and log it."""
        ...

    def archive(self, one: SavedDefinition, entry: AuditEntry) -> None:
        """Keep the version from new runs, and log it."""
        ...

    def add(self, entry: AuditEntry) -> None:
        """Log what belongs to the change."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryPorts(CallerPorts):
    """What publishing and looking up need."""

    workspace: Workspace
    root: Path
    settings: Settings
    registry: Registry
    saved: SavedDefinitions
    references: References
    catalog: Catalog
    contracts: Contracts
    audit: AuditLog
    digest: Callable[[Path], str]
    """The sha256 of a file."""
