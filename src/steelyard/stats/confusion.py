"""A judge against people, counted."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.model.validation import Counts
from steelyard.stats.intervals import Interval, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """A judge against people; positive is what people pass."""

    tp: int = 0
    fn: int = 0
    tn: int = 0
    fp: int = 0

    @property
    def n(self) -> int:
        """All labels."""
        return self.tp + self.fn + self.tn + self.fp

    @property
    def tpr(self) -> Interval:
        """The share of good answers that the judge passes, with Wilson's interval."""
        return wilson(self.tp, self.tp + self.fn)

    @property
    def tnr(self) -> Interval:
        """The share of bad answers that the judge fails, with Wilson's interval."""
        return wilson(self.tn, self.tn + self.fp)


def confusion_of(counts: Counts) -> Confusion:
    """The counts of a validation, with their rates."""
    return Confusion(tp=counts.tp, fn=counts.fn, tn=counts.tn, fp=counts.fp)
