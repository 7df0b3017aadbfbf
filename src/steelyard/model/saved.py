"""A rubric, a judge or a dataset that is kept in the store and not in a file of the project."""

from __future__ import annotations

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.published import PublishedKind

SAVED = "store:"
"""What the path of a saved definition begins with; no file of a project is called so."""


class SavedDefinition(FrozenStruct, frozen=True, kw_only=True):
    """One version as it was sent, without its content."""

    kind: PublishedKind
    id: str
    version: str | None
    """None for a question rubric, whose id is its version."""
    contract: str
    extension: str
    """`.json`, `.yaml` or `.jsonl`: how the content is read."""
    sha256: str
    """The hash of its bytes."""
    size: int
    saved_at: str
    archived_at: str | None = None
    """Since when no new run may use it."""

    @property
    def reference(self) -> str:
        """What refers to it."""
        return f"{self.kind}/{self.name}"

    @property
    def name(self) -> str:
        """The reference without its kind."""
        return f"{self.id}@{self.version}" if self.version else self.id

    @property
    def source(self) -> str:
        """What stands for the path of a file; of a dataset, the file's name is its id."""
        name = self.id if self.kind == "dataset" else self.name
        return f"{SAVED}{self.kind}s/{name}{self.extension}"
