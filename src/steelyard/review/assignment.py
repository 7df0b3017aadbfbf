"""Which records people should label next: by lot, with chances that are known and never 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from steelyard.errors import InvalidError
from steelyard.model.labels.assignment import Assigned, AssignmentChoice, Candidate
from steelyard.stats.sampling import (
    Drawn,
    inclusion_probabilities,
    simple,
    stratified,
    systematic,
)

FLOOR = 0.1
"""The clearest record has a tenth of the chance of the most doubtful one.

Without a chance it could not be spoken for, and no weight would bring its kind back.
"""


class TooManyAskedError(InvalidError):
    """More records are asked for than can be chosen."""


def choose(candidates: Sequence[Candidate], choice: AssignmentChoice) -> list[Assigned]:
    """A sample of records, in their order."""
    if choice.is_at_most and candidates:
        choice = replace(choice, count=min(choice.count, len(candidates)))
    if choice.count > len(candidates):
        raise TooManyAskedError(
            f"{choice.count} records are asked for, and {len(candidates)} can be chosen"
        )
    names = [stratum_of(one) for one in candidates]
    if choice.by == "random":
        drawn = simple(len(candidates), choice.count, choice.seed)
    elif choice.by == "stratified":
        drawn = _by_strata(names, choice)
    else:
        measure = _doubts if choice.by == "near_threshold" else _splits
        chances = inclusion_probabilities(measure(candidates, choice), choice.count)
        drawn = systematic(chances, choice.seed)
    is_stratified = choice.by == "stratified"
    return [
        Assigned(
            candidate=candidates[one.place],
            inclusion_prob=one.probability,
            stratum=names[one.place] if is_stratified else None,
        )
        for one in drawn
    ]


def stratum_of(candidate: Candidate) -> str:
    """The stratum of a record: all values of its slice together, so that it is in one alone."""
    return " + ".join(sorted(candidate.strata)) or "none"


def _by_strata(names: Sequence[str], choice: AssignmentChoice) -> list[Drawn]:
    strata = len(Counter(names))
    if choice.count < strata:
        raise InvalidError(
            f"there are {strata} strata, and each gives one record at least; "
            f"ask for {strata} or more, or take another slice"
        )
    return stratified(names, choice.count, choice.seed, is_equal=choice.is_equal)


def _doubts(candidates: Sequence[Candidate], choice: AssignmentChoice) -> list[float]:
    """How near to the threshold each score is: 1 at it, the least at the farthest there can be."""
    farthest = max(choice.threshold, 1 - choice.threshold)
    return [
        FLOOR if one.score is None else _raised(1 - abs(one.score - choice.threshold) / farthest)
        for one in candidates
    ]


def _splits(candidates: Sequence[Candidate], _choice: AssignmentChoice) -> list[float]:
    """How far each jury is divided."""
    if all(one.split is None for one in candidates):
        raise InvalidError("no response was looked at by a jury; choose by something else")
    return [_raised(one.split or 0.0) for one in candidates]


def _raised(share: float) -> float:
    return FLOOR + (1 - FLOOR) * max(0.0, share)
