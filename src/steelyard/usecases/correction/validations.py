"""The port of validations: all comparisons of judges with human labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.statistics.validation import JudgeValidation


class Validations(Protocol):
    """The validations of a project's judges."""

    def all(self) -> Sequence[JudgeValidation]:
        """All validations, oldest first."""
        ...

    def add(self, validation: JudgeValidation) -> bool:
        """Add a validation; False if the same comparison already exists."""
        ...

    def read_test(self, judge: str, at: str) -> int:
        """Record a use of test labels for a judge; return the number of uses."""
        ...


class MinimumValidation(FrozenStruct, frozen=True, kw_only=True):
    """Minimum values of a validation; rates by their lower bounds."""

    tpr: float | None = None
    tnr: float | None = None
    sample_size: int | None = None


def fits(validation: JudgeValidation, fingerprints: Iterable[str], rule: str) -> bool:
    """Whether a validation covers these fingerprints and this pass rule.

    A run need not use all validated fingerprints: records without a second turn have no
    question about it.
    """
    return validation.rule == rule and set(fingerprints) <= set(validation.fingerprints)
