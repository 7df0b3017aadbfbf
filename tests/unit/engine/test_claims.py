"""Calls are claimed before they are made, at most so many, in the commits of others."""

from __future__ import annotations

import asyncio

import pytest

from fakes.ledger import MemoryLedger
from steelyard.engine.claims import Call, Claimed, Claims
from steelyard.errors import RunError


def numbered(number: int) -> Call:
    return number, 0, 1, f"r{number}", "t"


def claims(ledger: MemoryLedger, coming: list[int], limit: int = 4) -> Claims[int]:
    def upcoming(count: int) -> list[int]:
        return coming[:count]

    how: Claimed[int] = Claimed("0/t", int, numbered, upcoming)
    return Claims(how, ledger, lambda: "now", limit)


@pytest.fixture
def ledger() -> MemoryLedger:
    """A ledger that commits when it is told to."""
    return MemoryLedger(is_held=True)


def test_a_call_is_covered_once_its_claim_is_committed(ledger: MemoryLedger) -> None:
    made = claims(ledger, [1, 2, 3, 4, 5, 6])
    taken = made.take()
    assert taken
    assert not made.covers(1)
    made.committed(taken, None)

    assert taken.calls == {"now": [numbered(number) for number in (1, 2, 3, 4)]}
    assert [made.covers(number) for number in (1, 4, 5)] == [True, True, False]


def test_what_is_settled_makes_room_for_the_next(ledger: MemoryLedger) -> None:
    coming = [1, 2, 3, 4, 5, 6]
    made = claims(ledger, coming)
    first = made.take()
    assert first
    made.committed(first, None)
    del coming[:2]
    made.settle(1)
    taken = made.take()

    assert taken
    assert taken.new == [5]
    assert taken.calls == {"now": [numbered(number) for number in (2, 3, 4, 5)]}
    assert made.take() is None


def test_a_retry_goes_before_records_whose_turn_comes_later(ledger: MemoryLedger) -> None:
    made = claims(ledger, [1, 2, 3, 4])
    first = made.take()
    assert first
    made.committed(first, None)

    async def cover() -> None:
        covered = asyncio.ensure_future(made.cover(9))
        await asyncio.sleep(0)
        ledger.commit()
        await covered

    asyncio.run(cover())

    assert [made.covers(number) for number in (1, 2, 3, 4, 9)] == [True, True, True, False, True]


def test_a_call_that_was_waited_for_and_settled_is_not_claimed_again(
    ledger: MemoryLedger,
) -> None:
    """Its worker may have asked for a claim that was under way already."""
    coming = [1]
    made = claims(ledger, coming, limit=1)

    async def cover() -> None:
        taken = made.take()
        assert taken
        covered = asyncio.ensure_future(made.cover(1))
        await asyncio.sleep(0)
        made.committed(taken, None)
        await covered
        made.settle(1)

    asyncio.run(cover())

    coming.clear()
    assert made.take() is None


def test_a_claim_that_cannot_be_kept_is_told_to_whoever_waits(ledger: MemoryLedger) -> None:
    made = claims(ledger, [])
    ledger.error = RunError("the disk is full")

    async def cover() -> None:
        covered = asyncio.ensure_future(made.cover(1))
        await asyncio.sleep(0)
        ledger.commit()
        await covered

    with pytest.raises(RunError, match="the disk is full"):
        asyncio.run(cover())


def test_nothing_is_claimed_after_the_end(ledger: MemoryLedger) -> None:
    made = claims(ledger, [1, 2])
    assert made.take()
    made.end()
    taken = made.take()

    assert taken
    assert taken.calls == {}
    assert made.take() is None
