"""Percentiles and distributions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BINS = 10


def percentiles(values: Sequence[float], wanted: Sequence[float]) -> list[float | None]:
    """Percentiles by linear interpolation; None where there are no values."""
    if not len(values):
        return [None for _ in wanted]
    return [float(found) for found in np.percentile(np.asarray(values), wanted)]


def distribution(scores: Sequence[float], counts: Sequence[int] | None = None) -> list[int]:
    """How many scores fall into each of ten equal bins of [0, 1]; the last includes 1.

    With counts, each score stands for so many.
    """
    clipped = np.clip(np.asarray(scores, dtype=np.float64), 0.0, 1.0)
    found = np.histogram(clipped, bins=BINS, range=(0.0, 1.0), weights=counts)[0]
    return [int(count) for count in found]
