"""The options of a run as its manifest and its plan keep them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import field

from steelyard.results.json_struct import JsonStruct

How: TypeAlias = Literal["retry", "regrade", "pairwise"]
Number: TypeAlias = int | float


class ComparedRun(JsonStruct, frozen=True, kw_only=True):
    """Run A of a pairwise run, whose run B it is derived from."""

    run_id: str
    folder: Path
    titles: tuple[str, str]
    """The targets of A and of B."""
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    """How many records of both runs are not compared, by the reason."""


class Derived(JsonStruct, frozen=True, kw_only=True, omit_defaults=True):
    """The finished run that a run is made from."""

    run_id: str
    how: How
    folder: Path
    against: ComparedRun | None = None
    """Of a pairwise run, the run that this one is compared with."""
    only: tuple[int, ...] | None = None
    """Of a regrade, the indices of the records that are graded; None for all of them."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Of every finished run that it reads."""
        return (self.folder, self.against.folder) if self.against else (self.folder,)

    @property
    def is_played_back(self) -> bool:
        """Whether its answers are those that finished runs have kept."""
        return self.how != "retry"


class StoredOptions(JsonStruct, frozen=True, kw_only=True):
    """What was asked of a run; earlier versions lack the options that they did not have."""

    dataset: Path
    target: str | None = None
    prompt: str | None = None
    """The template of the target, named at the end of `target` by its file."""
    rubric: str | None = None
    model: str | None = None
    """The model that the target of records uses instead of its own."""
    judge: str | None = None
    """The judge that replaces those of implicit grading."""
    responses: Path | None = None
    candidate: str | None = None
    from_conversation: bool = False
    """Whether the last assistant message of each case is the response."""
    repeat: int = 1
    limit: int | None = None
    where: str | None = None
    cluster: str | None = None
    """The field whose records depend on each other; the conversation where none is named."""
    max_concurrency: int | None = None
    budget_usd: Number | None = None
    workers: int = 1
    cache: bool = False
    """Whether answers that other runs of the project were given count."""
    strict: bool = False
    require_validated: Mapping[str, Number] | None = None
    """The least TPR, TNR and sample size of every judge's validation; None where none is asked."""
    pass_threshold: Number | None = None
    derived: Derived | None = field(name="derived_from", default=None)
    gates: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the run must reach for exit code 0, as given on the command line."""
