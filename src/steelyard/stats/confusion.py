"""A judge against people, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import fsum
from typing import NamedTuple, cast

from steelyard.model.validation import Counts, JudgeValidation, LabelledItem
from steelyard.stats.intervals import Interval, wilson


class Rates(NamedTuple):
    """How often a judge is right, each with Wilson's interval."""

    tpr: Interval
    """The share of good answers that it passes."""
    tnr: Interval
    """The share of bad answers that it fails."""


def rates_of(counts: Counts) -> Rates:
    """The rates behind the counts of a validation."""
    return Rates(
        wilson(counts.tp, counts.tp + counts.fn), wilson(counts.tn, counts.tn + counts.fp)
    )


def rates_by_chance(validation: JudgeValidation) -> Rates | None:
    """TPR and TNR with each item counted by the inverse of the chance with which it was chosen.

    Of items that were chosen by what the judge says, the plain rates tell how the choice was
    made as much as how the judge errs (verification bias). None where all items had the same
    chance, or it is not known, or people's own word decided.
    """
    items = validation.items if validation.has_weights else ()
    if validation.design == "by_label" or len({one.inclusion_prob for one in items}) < 2:
        return None
    return Rates(_by_chance(items, is_good=True), _by_chance(items, is_good=False))


def _by_chance(items: Sequence[LabelledItem], *, is_good: bool) -> Interval:
    """Wilson's interval over as many items of one weight as are worth the same (Kish)."""
    some = [one for one in items if one.is_good is is_good]
    weights = [1 / cast(float, one.inclusion_prob) for one in some]
    right = [w for w, one in zip(weights, some, strict=True) if one.is_passed is is_good]
    total = fsum(weights)
    worth = total**2 / fsum(w * w for w in weights) if weights else 0
    found = wilson(fsum(right) / total * worth if weights else 0, worth)
    return replace(found, method="wilson with inverse-probability weights", n=len(some))


def balanced_accuracy(found: Rates) -> float | None:
    """The mean of TPR and TNR, whatever the share of good answers; None where one is unknown."""
    tpr, tnr = found.tpr.value, found.tnr.value
    return None if tpr is None or tnr is None else (tpr + tnr) / 2
