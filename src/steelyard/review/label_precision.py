"""How precise a rate is that people label, and how many labels a wanted precision needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from steelyard.stats.arrays import np
from steelyard.stats.effective import kish
from steelyard.stats.intervals import Z95

MORE_THAN_IT_HAS = "more than it has: add records"
WANTED = (0.05, 0.1)
"""Half widths of intervals that are commonly wanted."""


class NeededLabels(NamedTuple):
    """How many labelled items an interval of a given half width takes."""

    half_width: float
    labels: int


class LabelPrecision(NamedTuple):
    """What the labels of a queue can say about the rate of a run."""

    labels: int
    """Items of the queue."""
    effective: float
    """So many items of a simple random sample would be as precise (Kish)."""
    half_width: float
    """Of the 95 % interval of a rate near one half, the widest case."""
    needed: tuple[NeededLabels, ...]
    """For an interval of plus or minus so much, drawn in the same way."""
    records: int
    """The records that could be drawn."""

    def note_on(self, needed: NeededLabels) -> str | None:
        """That there are fewer records than labels are needed; None if there are enough."""
        return MORE_THAN_IT_HAS if needed.labels > self.records else None


def label_precision(chances: Sequence[float], records: int) -> LabelPrecision:
    """The precision of items that were drawn with these inclusion probabilities."""
    effective = kish(1 / np.array(chances, dtype=np.float64))
    per_label = effective / len(chances)
    return LabelPrecision(
        labels=len(chances),
        effective=effective,
        half_width=_half_width(effective),
        needed=tuple(
            NeededLabels(width, math.ceil(_independent(width) / per_label)) for width in WANTED
        ),
        records=records,
    )


def _half_width(n: float) -> float:
    """Half the width of Wilson's interval of a rate of one half."""
    return Z95 / (2 * math.sqrt(n + Z95**2))


def _independent(half_width: float) -> float:
    """The size at which Wilson's interval of a rate of one half has this half width."""
    return Z95**2 / (4 * half_width**2) - Z95**2
