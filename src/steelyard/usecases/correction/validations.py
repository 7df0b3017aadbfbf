"""The port of validations: every comparison of a judge with people that was ever made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from steelyard.model.statistics.validation import JudgeValidation


class Validations(Protocol):
    """What a project knows of its judges."""

    def all(self) -> Sequence[JudgeValidation]:
        """Every validation, the oldest first."""
        ...

    def add(self, validation: JudgeValidation) -> bool:
        """Keep one for good; False where the same comparison is there already."""
        ...

    def read_test(self, judge: str, at: str) -> int:
        """Note that test labels are looked at for a judge; how often they were, with this time."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimumValidation:
    """What a validation must reach for a judge to be asked; rates by their lower bounds."""

    tpr: float | None = None
    tnr: float | None = None
    sample_size: int | None = None


def fits(validation: JudgeValidation, fingerprints: Iterable[str], rule: str) -> bool:
    """Whether it is about a judge that asks this and decides so.

    A run need not ask all that was validated: records without a second turn have no question
    about it.
    """
    return validation.rule == rule and set(fingerprints) <= set(validation.fingerprints)
