"""The order of the attempts of a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from steelyard.engine.record_work import TARGET_CALL
from steelyard.model.run import call_of
from steelyard.results.attempts import read_attempt

if TYPE_CHECKING:
    from sqlalchemy import Row


def in_turn(made: Sequence[Row[Any]]) -> Iterable[bytes]:
    """The attempts of a record: its target's, then those of its judges as they were asked.

    The tries of one call stay together, in their order whatever the clock said; one that uses no
    attempt stands before the one that has its number.
    """
    if made[0].call == made[-1].call:
        return [row.row for row in made]
    calls: dict[str, list[bytes]] = {}
    for row in sorted(made, key=_turn):
        calls.setdefault(call_of(row.call), []).append(row.row)

    def began(call: str) -> tuple[bool, str]:
        return call != TARGET_CALL, read_attempt(calls[call][0]).at

    return [row for call in sorted(calls, key=began) for row in calls[call]]


def _turn(row: Row[Any]) -> tuple[int, bool, str]:
    is_counted = call_of(row.call) == row.call
    return row.attempt, is_counted, row.call if is_counted else read_attempt(row.row).at
