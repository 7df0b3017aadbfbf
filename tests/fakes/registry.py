"""A project in which a test publishes."""

from __future__ import annotations

from pathlib import Path

from fakes.audit import GatheredLog
from fakes.clock import ManualClock
from fakes.contracts import CONTRACTS
from fakes.definitions import DefinitionProject
from steelyard.checks.catalog import Catalog
from steelyard.model.reference import ReferenceKind
from steelyard.project_file import parse_settings
from steelyard.reports.publication import Publication
from steelyard.settings import Settings
from steelyard.store.artifacts import digest_of
from steelyard.store.database import open_database
from steelyard.store.saved_definitions import SavedDefinitionStore
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.registry.publish import carry_out, plan_publication
from steelyard.usecases.registry.registry import RegistryPorts

WHEN = "2026-01-15T12:00:00.000+00:00"


class RegistryProject(DefinitionProject):
    """Rubrics, judges and datasets to write and to publish, at one moment."""

    def __init__(self, root: Path, settings: str = "") -> None:
        super().__init__(root)
        self.audit = GatheredLog()
        self.settings = (
            parse_settings(settings.encode(), "steelyard.yaml") if settings else Settings()
        )

    @property
    def saved(self) -> SavedDefinitionStore:
        """What is saved in the store; nothing while there is none."""
        path = self.root / ".steelyard" / "steelyard.db"
        return SavedDefinitionStore(lambda: open_database(path), is_there=path.is_file)

    @property
    def ports(self) -> RegistryPorts:
        """What publishing needs, with the files as they stand now."""
        return RegistryPorts(
            workspace=DiskWorkspace(self.root),
            root=self.root,
            settings=self.settings,
            registry=self.registry,
            saved=self.saved,
            references=self.references,
            catalog=Catalog(),
            contracts=CONTRACTS,
            clock=ManualClock(),
            audit=self.audit,
            digest=lambda path: digest_of(path).sha256,
        )

    def publish(self, name: str | Path, kind: ReferenceKind = "rubric") -> Publication:
        """What publishing a file or a reference comes to."""
        ports = self.ports
        return carry_out(ports, plan_publication(ports, kind, str(name)))
