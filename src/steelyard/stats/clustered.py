"""Whether paired differences lean to one side where they come in groups."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steelyard.stats.bootstrap import RESAMPLES, SEED
from steelyard.stats.distributions import normal_tail

_ENUMERATED = 14
"""Up to so many groups that differ, every way of swapping them is counted."""
_DRAWN_KINDS = 2_000
_DIGITS = 9


def swap_p(values: Sequence[float], clusters: Sequence[int]) -> float:
    """The two-sided p-value that swapping the two sides of any group would change nothing.

    A randomisation test (Fisher 1935): the sign of each group's sum is flipped, and it is counted
    how often the total comes out as large as the one seen. All repeats of a case, and all records
    of a conversation, flip together and so count once as evidence; with single passes and fails
    it is McNemar's exact test. Few groups are counted out, more are drawn 10,000 times with a
    fixed seed; for very many different sums the normal curve takes over.
    """
    scores = np.asarray(values, dtype=np.float64)
    labels = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sums = np.bincount(labels, weights=scores) if len(scores) else scores
    # sums that differ by rounding alone are the same
    sums = np.round(sums, _DIGITS)
    sizes, times = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    if not len(sizes):
        return 1.0
    seen = abs(float(sums.sum())) - 10.0**-_DIGITS
    groups = int(times.sum())
    if groups <= _ENUMERATED:
        return float((np.abs(_all_totals(np.repeat(sizes, times))) >= seen).mean())
    if len(sizes) > _DRAWN_KINDS:
        return min(1.0, 2 * normal_tail(seen / math.sqrt(float((sums**2).sum()))))
    chance = np.random.default_rng(SEED)
    heads = chance.binomial(times, 0.5, size=(RESAMPLES, len(sizes)))
    totals = (2 * heads - times) @ sizes
    return float(((np.abs(totals) >= seen).sum() + 1) / (RESAMPLES + 1))


def design_effect(values: Sequence[float], clusters: Sequence[int]) -> float:
    """How many times as wide, squared, a mean's error is because items come in groups (Kish).

    The variance by groups over that of single items; never below 1, so that groups that happen
    to balance out promise nothing.
    """
    scores = np.asarray(values, dtype=np.float64)
    centred = scores - scores.mean() if len(scores) else scores
    alone = float((centred**2).sum())
    if alone == 0:
        return 1.0
    labels = np.unique(np.asarray(clusters), return_inverse=True)[1]
    return max(1.0, float((np.bincount(labels, weights=centred) ** 2).sum()) / alone)


def _all_totals(sums: np.ndarray) -> np.ndarray:
    totals = np.zeros(1)
    for size in sums:
        totals = np.concatenate([totals + size, totals - size])
    return totals
