"""A judge against people, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import cast

from steelyard.model.validation import Counts, JudgeValidation, LabelledItem
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


def rates_by_chance(validation: JudgeValidation) -> tuple[Interval, Interval] | None:
    """TPR and TNR with each item counted by the inverse of the chance with which it was chosen.

    Of items that were chosen by what the judge says, the plain rates tell how the choice was
    made as much as how the judge errs (verification bias). None where all items had the same
    chance, or it is not known, or people's own word decided.
    """
    items = validation.items if validation.has_weights else ()
    if validation.design == "by_label" or len({one.inclusion_prob for one in items}) < 2:
        return None
    return _by_chance(items, is_good=True), _by_chance(items, is_good=False)


def _by_chance(items: Sequence[LabelledItem], *, is_good: bool) -> Interval:
    """Wilson's interval over as many items of one weight as are worth the same (Kish)."""
    some = [one for one in items if one.is_good is is_good]
    weights = [1 / cast(float, one.inclusion_prob) for one in some]
    right = [w for w, one in zip(weights, some, strict=True) if one.is_passed is is_good]
    total = fsum(weights)
    worth = total**2 / fsum(w * w for w in weights) if weights else 0
    found = wilson(fsum(right) / total * worth if weights else 0, worth)
    return replace(found, method="wilson with inverse-probability weights", n=len(some))


def balanced_accuracy(found: Confusion) -> float | None:
    """The mean of TPR and TNR, whatever the share of good answers; None where one is unknown."""
    tpr, tnr = found.tpr.value, found.tnr.value
    return None if tpr is None or tnr is None else (tpr + tnr) / 2
