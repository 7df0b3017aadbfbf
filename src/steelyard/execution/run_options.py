"""What a user asks of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.model.json_value import JsonValue
from steelyard.results.options import Derived, StoredOptions

_STORED = tuple(name for name in StoredOptions.__struct_fields__ if name != "derived_from")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """What holds for every run that a command stands for."""

    rubric: str | None = None
    judge: str | None = None
    """The judge that replaces those of implicit grading."""
    responses: Path | None = None
    from_conversation: bool = False
    """Whether the last assistant message of each case is the response."""
    repeat: int = 1
    limit: int | None = None
    where: str | None = None
    cluster: str | None = None
    """The field whose records depend on each other; the conversation where none is named."""
    max_concurrency: int | None = None
    budget_usd: float | None = None
    workers: int = 1
    cache: bool = False
    """Whether answers that other runs of the project were given count."""
    strict: bool = False
    require_validated: Mapping[str, float] | None = None
    """The least TPR, TNR and sample size of every judge's validation; None where none is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(CommonOptions):
    """One dataset, what answers, what grades, and which records."""

    dataset: Path
    target: str | None = None
    candidate: str | None = None
    pass_threshold: float | None = None
    group_id: str | None = None
    derived: Derived | None = None
    gates: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """What the run must reach for exit code 0, as given on the command line."""

    @property
    def selection(self) -> str | None:
        """What selects records; None where those of the run that it is made from are given.

        Once a value of it was redacted, nobody can select by it again.
        """
        is_redacted = self.where is not None and "[redacted" in self.where
        return None if self.derived and is_redacted else self.where

    def stored(self) -> StoredOptions:
        """The options as they are kept with the run."""
        values = {name: getattr(self, name) for name in _STORED}
        return StoredOptions(derived_from=self.derived, **values)


def stored_options(kept: StoredOptions, group_id: str | None) -> RunOptions:
    """The options of a run that was kept."""
    values = {name: getattr(kept, name) for name in _STORED}
    return RunOptions(group_id=group_id, derived=kept.derived_from, **values)
