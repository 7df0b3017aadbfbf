"""What a judge picks when two answers are shown in both orders, and who wins by that."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.model.statistics.preference import Pick, Winner

SHARES: dict[Winner, float] = {"a": 0.0, "b": 1.0, "tie": 0.5, "contradiction": 0.5}
"""What each outcome of a record counts for B."""
_A_FIRST: dict[Pick, Winner] = {"first": "a", "second": "b", "tie": "tie"}
_B_FIRST: dict[Pick, Winner] = {"first": "b", "second": "a", "tie": "tie"}


def winner(ab: Pick, ba: Pick) -> Winner:
    """The run that both orders agree on; `ab` shows A's answer first, `ba` shows B's."""
    one, other = _A_FIRST[ab], _B_FIRST[ba]
    if one == other:
        return one
    return "tie" if "tie" in {one, other} else "contradiction"


def winner_of_record(winners: Sequence[Winner]) -> Winner:
    """The run that wins a record whose repeats were compared: it counts once, by the most shares.

    Equal shares are a tie, or a contradiction where all repeats are.
    """
    shares = sum(SHARES[one] for one in winners) - len(winners) / 2
    if shares:
        return "b" if shares > 0 else "a"
    return "contradiction" if set(winners) == {"contradiction"} else "tie"
