"""Whether a judge that compares two answers looks at them or at their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from steelyard.stats.intervals import Interval
from steelyard.stats.orders import Pick
from steelyard.stats.rates import rate_interval


class Position(NamedTuple):
    """What swapping the answers does to a judge."""

    flip_rate: Interval
    """Of the pairs that are decided in both orders: how often the winner changes."""
    first_rate: Interval
    """Of all decisions: how often the answer that is shown first wins; 0.5 without bias."""
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
) -> Position:
    """Both orders of each pair, as what was picked in the one order and in the other.

    A judge that looks at the answers picks `first` in one order and `second` in the other. A pair
    with a tie in either order says nothing about flips (Zheng et al. 2023 count it as a tie).
    The two decisions of a pair are one piece of evidence, as are the pairs of one cluster.
    """
    groups = range(len(picks)) if clusters is None else clusters
    placed = list(zip(picks, groups, strict=True))
    decided = [
        (one == other, group) for (one, other), group in placed if "tie" not in {one, other}
    ]
    single = [(pick == "first", group) for pair, group in placed for pick in pair if pick != "tie"]
    return Position(
        flip_rate=rate_interval(
            [float(is_flip) for is_flip, _ in decided],
            [group for _, group in decided] if len(set(groups)) < len(groups) else None,
        ),
        first_rate=rate_interval(
            [float(is_first) for is_first, _ in single], [group for _, group in single]
        ),
        ties=len(picks) - len(decided),
        pairs=len(picks),
    )
