"""Whether paired differences lean to one side where they come in clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from steelyard.stats.arrays import np
from steelyard.stats.distributions import normal_tail
from steelyard.stats.draws import RESAMPLES, SEED

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_STEPS = 50_000_000
"""How much adding up an exact distribution may take: about a tenth of a second."""
_MOST_KINDS = 2_000
_DENOMINATOR = 1_000
_LARGEST = 2**40
_DIGITS = 9


def coarser(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Of two ways to group the same items the one with fewer groups, whichever comes first."""
    groupings = [_numbered(labels) for labels in (first, second)]
    return min(groupings, key=lambda labels: (len(set(labels)), labels))


def _numbered(labels: Sequence[int]) -> list[int]:
    """The groups in the order in which they appear."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def flip_p(
    values: Sequence[float] | NDArray[Any], clusters: Sequence[int] | NDArray[Any]
) -> float:
    """The two-sided p-value of flipping the signs of whole clusters.

    A randomisation test (Fisher 1935): if nothing moved, the sum of a cluster could as well have
    had the other sign. All repeats of a case and all records of a conversation flip together and
    so count once as evidence; with single passes and fails it is McNemar's exact test. Sums are
    whole numbers of the smallest step, so that ties are ties. The distribution is exact unless
    that takes too long; then 10,000 seeded draws, and the normal curve for very many sums.
    """
    labels = np.unique(np.asarray(clusters), return_inverse=True)[1]
    steps = _steps(np.asarray(values, dtype=np.float64))
    sums = np.bincount(labels, weights=steps) if len(steps) else steps
    sizes, times = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    seen = abs(float(sums.sum()))
    if not len(sizes) or seen == 0:
        return 1.0
    total = float(sizes @ times)
    is_whole = bool((sizes == np.round(sizes)).all())
    if is_whole and total * float(times.sum()) <= _MOST_STEPS:
        return _exact(sizes.astype(np.int64), times, round(seen))
    if len(sizes) > _MOST_KINDS:
        return min(1.0, 2 * normal_tail(seen / math.sqrt(float((sums**2).sum()))))
    chance = np.random.default_rng(SEED)
    heads = chance.binomial(times, 0.5, size=(RESAMPLES, len(sizes)))
    totals = (2 * heads - times) @ sizes
    slack = 0.0 if is_whole else 10.0**-_DIGITS
    return float(((np.abs(totals) >= seen - slack).sum() + 1) / (RESAMPLES + 1))


def _steps(values: np.ndarray) -> np.ndarray:
    """Values as whole numbers of their smallest common step, where they have one."""
    kinds, places = np.unique(values, return_inverse=True)
    if len(kinds) > _MOST_KINDS:
        return values
    shares = [Fraction(float(kind)).limit_denominator(_DENOMINATOR) for kind in kinds]
    step = math.lcm(*(share.denominator for share in shares))
    is_close = all(
        abs(float(share) - kind) <= 10.0**-_DIGITS
        for share, kind in zip(shares, kinds, strict=True)
    )
    if not is_close or step > _LARGEST:
        return values
    return np.array([float(share * step) for share in shares])[places]


def _exact(sizes: np.ndarray, times: np.ndarray, seen: int) -> float:
    """The share of all sign patterns whose sum is at least as large as the one seen."""
    step = int(np.gcd.reduce(sizes))
    sizes, seen = sizes // step, -(-seen // step)
    chances = np.ones(1)
    for size, count in zip(sizes.tolist(), times.tolist(), strict=True):
        for _ in range(count):
            wider = np.zeros(len(chances) + 2 * size)
            wider[: len(chances)] += chances
            wider[2 * size :] += chances
            chances = wider / 2
    middle = len(chances) // 2
    return min(1.0, 2 * float(chances[middle + seen :].sum()))


def design_effect(
    values: Sequence[float] | NDArray[Any], clusters: Sequence[int] | NDArray[Any]
) -> float:
    """How many times as wide, squared, a mean's error is because items come in clusters (Kish).

    The variance by clusters over that of single items; never below 1, so that clusters that
    happen to balance out promise nothing.
    """
    scores = np.asarray(values, dtype=np.float64)
    centred = scores - scores.mean() if len(scores) else scores
    alone = float((centred**2).sum())
    if alone == 0:
        return 1.0
    labels = np.unique(np.asarray(clusters), return_inverse=True)[1]
    return max(1.0, float((np.bincount(labels, weights=centred) ** 2).sum()) / alone)
