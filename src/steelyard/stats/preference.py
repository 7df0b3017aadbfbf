"""Which of two runs a judge prefers, from what it says in both orders of their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.preference import Winner
from steelyard.stats.orders import SHARES
from steelyard.stats.paired import LEVEL, MCNEMAR, paired_difference

SIGN_TEST = "exact sign test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """How often B is preferred to A; a tie or a contradiction counts half."""

    win_rate: Interval
    wins: int
    """Records where B is preferred in both orders."""
    losses: int
    ties: int
    """Records with a tie in at least one order."""
    contradictions: int
    """Records where the answer in the same place is preferred in both orders."""
    p_value: float | None
    """Of no preference; None without a record."""
    test: str
    level: float
    """One minus the confidence of the interval; below 0.05 where several pairs are compared."""
    adjusted_p: float | None = None
    """Where several pairs of runs are compared: holds for all of them (Holm)."""

    @property
    def preferred(self) -> Literal["a", "b"] | None:
        """The run that is preferred by more than chance, read off the interval."""
        low, high = self.win_rate.low, self.win_rate.high
        if low is None or high is None or low <= 0.5 <= high:
            return None
        return "b" if low > 0.5 else "a"


def preference(
    winners: Sequence[Winner],
    clusters: Sequence[int] | None = None,
    among: tuple[float, float] | None = None,
) -> Preference:
    """B's win rate over records, with the exact sign test on wins and losses.

    The win rate is (1 + wins - losses) / 2 in shares of all records, so its interval is that of a
    paired difference; it contains 0.5 exactly where the test does not reject. With clusters
    (conversations, repeats) both count a cluster as one piece of evidence. `among` is the place
    of this test among those of several pairs of runs: its level and its adjusted p-value.
    """
    counts = Counter(winners)
    level, adjusted_p = among or (LEVEL, None)
    signs = [2 * SHARES[one] - 1 for one in winners]
    critical = NormalDist().inv_cdf(1 - level / 2) if among else None
    found = paired_difference(signs, _clustered(clusters), critical)
    return Preference(
        win_rate=_as_rate(found.interval),
        wins=counts["b"],
        losses=counts["a"],
        ties=counts["tie"],
        contradictions=counts["contradiction"],
        p_value=found.p_value,
        test=SIGN_TEST if found.test == MCNEMAR else found.test,
        level=level,
        adjusted_p=adjusted_p if winners else None,
    )


def _as_rate(interval: Interval) -> Interval:
    """The interval of a difference as one of a win rate."""
    value, low, high = interval.value, interval.low, interval.high
    if value is None or low is None or high is None:
        return interval
    return replace(interval, value=(1 + value) / 2, low=(1 + low) / 2, high=(1 + high) / 2)


def _clustered(clusters: Sequence[int] | None) -> Sequence[int] | None:
    """The clusters, where any holds more than one record."""
    return clusters if clusters is not None and len(set(clusters)) < len(clusters) else None
