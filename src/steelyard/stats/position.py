"""Whether a judge that compares two answers looks at them or at their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.preference import Pick
from steelyard.stats.paired import paired_difference
from steelyard.stats.rates import rate_interval


class PositionBias(NamedTuple):
    """What swapping the answers does to a judge."""

    flip_rate: Interval
    """Of the pairs that are decided in both orders: how often the winner changes."""
    first_rate: Interval
    """Of all decisions: how often the answer that is shown first wins; 0.5 without bias."""
    p_value: float | None
    """Of no bias, by pairs of which both orders lean to one place; None without a decision."""
    ties: int
    pairs: int

    @property
    def favours(self) -> Literal["first", "second"] | None:
        """The place that the judge favours by more than chance."""
        low, high = self.first_rate.low, self.first_rate.high
        if low is None or high is None or low <= 0.5 <= high:
            return None
        return "first" if low > 0.5 else "second"


def position_bias(
    picks: Sequence[tuple[Pick, Pick]], clusters: Sequence[int] | None = None
) -> PositionBias:
    """Both orders of each pair, as what was picked in the one order and in the other.

    A judge that looks at the answers picks `first` in one order and `second` in the other. A pair
    with a tie in either order says nothing about flips (Zheng et al. 2023 count it as a tie).
    The two decisions of a pair are one piece of evidence, as are the pairs of one cluster.
    """
    groups = range(len(picks)) if clusters is None else clusters
    is_clustered = len(set(groups)) < len(groups)
    placed = list(zip(picks, groups, strict=True))
    decided = [
        (one == other, group) for (one, other), group in placed if "tie" not in {one, other}
    ]
    first_rate, p_value = _first_rate(placed, is_clustered=is_clustered)
    return PositionBias(
        flip_rate=rate_interval(
            [float(is_flip) for is_flip, _ in decided],
            [group for _, group in decided] if is_clustered else None,
        ),
        first_rate=first_rate,
        p_value=p_value,
        ties=len(picks) - len(decided),
        pairs=len(picks),
    )


def _first_rate(
    placed: Sequence[tuple[tuple[Pick, Pick], int]], *, is_clustered: bool
) -> tuple[Interval, float | None]:
    """The share of decisions for the first place, with the interval of a paired difference.

    A pair counts by how much more often the first place wins in it: a judge that looks at the
    answers has none, whatever it thinks of them.
    """
    kept = [(pair, group) for pair, group in placed if pair != ("tie", "tie")]
    decisions = sum(pick != "tie" for pair, _ in kept for pick in pair)
    leans = [(pair.count("first") - pair.count("second")) / 2 for pair, _ in kept]
    found = paired_difference(leans, [group for _, group in kept] if is_clustered else None)
    value, low, high = found.interval.value, found.interval.low, found.interval.high
    if value is None or low is None or high is None:
        return found.interval, None
    # A tie is no decision: what a pair leans by is shared by fewer decisions than two a pair.
    scale = len(kept) / decisions
    ends = [min(1.0, max(0.0, 0.5 + scale * end)) for end in (value, low, high)]
    rate = replace(found.interval, value=ends[0], low=ends[1], high=ends[2], n=decisions)
    return rate, found.p_value
