"""What several tries of one case say: at least one good, or all good."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb

from steelyard.stats.bootstrap import bootstrap_counted, bootstrap_mean
from steelyard.stats.intervals import Interval

Tries = Mapping[tuple[int, int], int]
"""How many cases had so many passes in so many tries."""


def pass_at_k(tries: Tries, k: int) -> Interval:
    """The chance that at least one of k tries passes.

    Unbiased for each case (Chen et al. 2021): one minus the share of the choices of k tries that
    hold no pass. The interval resamples cases, because the tries of one are alike. Cases that
    were tried less than k times say nothing.
    """
    return _over_cases(tries, k, lambda passes, n: 1 - comb(n - passes, k) / comb(n, k))


def pass_hat_k(tries: Tries, k: int) -> Interval:
    """The chance that all of k tries pass: what an agent that must not fail is asked for.

    Unbiased for each case: the share of the choices of k tries that hold passes alone.
    """
    return _over_cases(tries, k, lambda passes, n: comb(passes, k) / comb(n, k))


def _over_cases(tries: Tries, k: int, share: Callable[[int, int], float]) -> Interval:
    counts: dict[float, int] = {}
    for (passes, n), cases in tries.items():
        if n >= k:
            value = share(passes, n)
            counts[value] = counts.get(value, 0) + cases
    return bootstrap_counted(counts) or bootstrap_mean(
        [value for value, cases in counts.items() for _ in range(cases)]
    )
