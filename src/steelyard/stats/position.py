"""Whether a judge that compares two answers looks at them or at their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from steelyard.stats.intervals import Interval, wilson

Pick: TypeAlias = Literal["first", "second", "tie"]


class Position(NamedTuple):
    """What swapping the answers does to a judge."""

    flip_rate: Interval
    """Of the pairs that are decided in both orders: how often the winner changes."""
    first_rate: Interval
    """Of all decisions: how often the answer that is shown first wins; 0.5 without bias."""
    ties: int
    pairs: int


def position_bias(picks: Sequence[tuple[Pick, Pick]]) -> Position:
    """Both orders of each pair, as what was picked in the one order and in the other.

    A judge that looks at the answers picks `first` in one order and `second` in the other. A pair
    with a tie in either order says nothing about flips (Zheng et al. 2023 count it as a tie).
    """
    decided = [pair for pair in picks if "tie" not in pair]
    flipped = sum(one == other for one, other in decided)
    single = [pick for pair in picks for pick in pair if pick != "tie"]
    return Position(
        flip_rate=wilson(flipped, len(decided)),
        first_rate=wilson(single.count("first"), len(single)),
        ties=len(picks) - len(decided),
        pairs=len(picks),
    )
