"""Records that people shall look at next, and the chance that each had of being chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from steelyard.model.rubric import PASS_THRESHOLD

ChosenBy: TypeAlias = Literal["random", "stratified", "near_threshold", "jury_split"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A record that has a response to look at."""

    record_id: str
    index: int = 0
    """The index of the record in its dataset."""
    repeat: int = 0
    score: float | None = None
    strata: tuple[str, ...] = ()
    """The values of the slice by which it is put into a stratum, or its verdict."""
    split: float | None = None
    """How far its jury is divided, from 0 to 1; None where no jury looked at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """Records that somebody picked: without the chance that each had."""

    run_id: str
    candidates: tuple[Candidate, ...]
    left_out: int
    """How many have no response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentChoice:
    """How many are chosen, and how."""

    count: int
    is_at_most: bool = False
    """Whether all are chosen where there are fewer than `count`."""
    by: ChosenBy = "random"
    threshold: float = PASS_THRESHOLD
    """The score at which a response passes."""
    is_equal: bool = False
    """Whether strata give equally many, and not in proportion to their size."""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """A record that was chosen."""

    candidate: Candidate
    inclusion_prob: float
    stratum: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A sample with its design: all that a corrected rate needs to know of it."""

    run_id: str
    rubric: str
    choice: AssignmentChoice
    records: int
    """Those that could be chosen, each with a chance above 0."""
    left_out: Mapping[str, int]
    """Records of the run that could not, by reason."""
    assigned: tuple[Assigned, ...]
    strata: Mapping[str, tuple[int, int]]
    """Of a stratified sample: how many of how many, by stratum."""
