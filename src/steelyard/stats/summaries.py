"""Percentiles and distributions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from steelyard.stats.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS = 10
TAILS = (0.025, 0.975)
"""What a 95 % interval leaves out on either side."""
_HALF = 0.5


def percentiles(values: Sequence[float], wanted: Sequence[float]) -> list[float | None]:
    """Percentiles by linear interpolation; None where there are no values."""
    if not len(values):
        return [None for _ in wanted]
    return list(quantiles(np.asarray(values, dtype=np.float64), [each / 100 for each in wanted]))


def quantiles(values: NDArray[np.float64], wanted: Sequence[float]) -> Iterator[float]:
    """What `numpy.quantile` finds, without what it imports: that takes as long as a small run."""
    places = [share * (len(values) - 1) for share in wanted]
    around = sorted({at for place in places for at in (math.floor(place), math.ceil(place))})
    ranked = np.partition(values, around)
    for place in places:
        low, high = float(ranked[math.floor(place)]), float(ranked[math.ceil(place)])
        part = place - math.floor(place)
        # from the nearer end, so that the result lies between both
        yield low + (high - low) * part if part < _HALF else high - (high - low) * (1 - part)


def distribution(scores: Sequence[float], counts: Sequence[int] | None = None) -> list[int]:
    """How many scores fall into each of ten equal bins of [0, 1]; the last includes 1.

    With counts, each score stands for so many.
    """
    clipped = np.clip(np.asarray(scores, dtype=np.float64), 0.0, 1.0)
    found = np.histogram(clipped, bins=BINS, range=(0.0, 1.0), weights=counts)[0]
    return [int(count) for count in found]
