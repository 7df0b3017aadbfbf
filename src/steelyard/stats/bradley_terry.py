"""How strong several runs are, from who is preferred to whom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from steelyard.model.statistics.interval import Interval
from steelyard.stats.arrays import np
from steelyard.stats.distributions import student_quantile
from steelyard.stats.draws import SEED
from steelyard.stats.intervals import Z95
from steelyard.stats.summaries import TAILS, quantiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRIOR = 0.5
"""Wins that each run of a pair is given beforehand, so that strengths are always finite."""
RESAMPLES = 2_000
_FEW = 10
_ROUNDS = 10_000
_EXACT = 1e-10
_DRAWN_AT_ONCE = 1_000_000


class Contest(NamedTuple):
    """One record of one pair of runs."""

    cluster: int
    """Records of one cluster, and all pairs of one record, are drawn together."""
    first: int
    second: int
    share: float
    """What the second run wins: 1, 0, or 0.5 for a tie."""


Wins: TypeAlias = "NDArray[np.float64]"
"""How often run i is preferred to run j, by [..., i, j]."""


def bradley_terry(wins: Wins, prior: float = PRIOR) -> NDArray[np.float64]:
    """Log strengths with mean 0: run i beats run j with odds exp(strength i - strength j).

    Bradley and Terry (1952), fitted with the MM algorithm of Hunter (2004). `prior` wins are
    added in both directions of every pair that met; for two runs it is the correction of Haldane
    and Anscombe. Without it a run that won or lost everything has no finite strength. Leading
    axes are fitted one by one.
    """
    met = (wins + wins.swapaxes(-1, -2)) > 0
    counted = wins + prior * met
    runs = wins.shape[-1]
    flat = counted.reshape(-1, runs, runs)
    strengths = np.ones(flat.shape[:-1])
    left = np.arange(len(flat))
    for _ in range(_ROUNDS):
        before = strengths[left]
        after = _round(flat[left], before)
        strengths[left] = after
        left = left[np.abs(np.log(after) - np.log(before)).max(axis=-1) > _EXACT]
        if not len(left):
            break
    logs = np.log(strengths)
    return (logs - logs.mean(axis=-1, keepdims=True)).reshape(wins.shape[:-1])


def strengths_of(contests: Sequence[Contest], runs: int) -> list[Interval]:
    """The strength of each run with its bootstrap interval, clusters of records resampled.

    The interval is the wider of the percentile interval, scaled for few clusters, and of the
    bootstrap standard error times Student's quantile; in a trial with 3 runs and 20 to 200
    records it covered 93 to 97 %, where percentiles alone covered 87 to 95 %. A run with a win,
    or with a loss, in fewer than 10 clusters has no interval: resampling so few says nothing.
    """
    clusters = np.unique([one.cluster for one in contests], return_inverse=True)[1]
    wins = np.zeros((int(clusters.max()) + 1, runs, runs))
    for place, one in zip(clusters, contests, strict=True):
        wins[place, one.second, one.first] += one.share
        wins[place, one.first, one.second] += 1 - one.share
    found = bradley_terry(wins.sum(axis=0))
    drawn = _resampled(wins)
    has_won, has_lost = ((wins.sum(axis=axis) > 0).sum(axis=0) for axis in (2, 1))
    n = len(wins)
    return [
        _interval(float(found[run]), drawn[:, run], n)
        if min(int(has_won[run]), int(has_lost[run])) >= _FEW
        else Interval(float(found[run]), None, None, "bootstrap", n)
        for run in range(runs)
    ]


def _interval(value: float, drawn: NDArray[Any], n: int) -> Interval:
    quantile, few = student_quantile(0.975, n - 1), math.sqrt(n / (n - 1))
    half = quantile * few * float(drawn.std())
    low, high = quantiles(drawn, TAILS)
    scale = quantile * few / Z95
    return Interval(
        value,
        min(value - half, value - scale * (value - low)),
        max(value + half, value + scale * (high - value)),
        "bootstrap",
        n,
    )


def _round(wins: Wins, strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """One step of the algorithm for every fit, scaled to a geometric mean of 1."""
    met = wins + wins.swapaxes(-1, -2)
    sums = strengths[:, :, None] + strengths[:, None, :]
    after = wins.sum(axis=-1) / (met / sums).sum(axis=-1)
    return after / np.exp(np.log(after).mean(axis=-1, keepdims=True))


def _resampled(wins: Wins) -> NDArray[np.float64]:
    """The strengths of all resamples; it is drawn how often each kind of cluster comes up."""
    count, runs = wins.shape[0], wins.shape[-1]
    kinds, times = np.unique(wins.reshape(count, -1), axis=0, return_counts=True)
    random = np.random.default_rng(SEED)
    batch = max(1, _DRAWN_AT_ONCE // len(kinds))
    made: list[NDArray[np.float64]] = []
    for start in range(0, RESAMPLES, batch):
        resamples = min(batch, RESAMPLES - start)
        drawn = random.multinomial(count, times / count, size=resamples)
        made.append(bradley_terry((drawn @ kinds).reshape(-1, runs, runs)))
    return np.concatenate(made)
