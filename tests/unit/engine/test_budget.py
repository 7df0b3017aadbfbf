"""What ends a run before its last record: money, time, or somebody's word."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.targets import ScriptedTarget
from fakes.work import Bench, work
from steelyard.engine.budget import CANCEL, Budget, Stop, deadline_stop
from steelyard.engine.limiter import Limiter
from steelyard.execution.leases import BudgetGrants


def test_without_a_limit_nothing_is_too_much() -> None:
    budget = Budget()
    budget.spend(1_000_000)

    assert budget.stop(1000) is None


@pytest.mark.parametrize(
    ("spent", "in_flight", "is_stopped"),
    [
        ([], 1000, False),
        ([1.0], 9, False),
        ([1.0], 10, True),
        ([0.5, 1.5], 8, False),
        ([0.5, 1.5], 9, True),
        ([9.9], 0, False),
        ([10.0], 0, True),
        ([11.0], 0, True),
    ],
)
def test_a_call_must_fit_beside_what_is_spent_and_what_is_on_its_way(
    spent: list[float], in_flight: int, is_stopped: bool
) -> None:
    budget = Budget(10.0)
    for cost in spent:
        budget.spend(cost)

    assert (budget.stop(in_flight) is not None) is is_stopped


def test_what_was_spent_before_counts_but_says_nothing_about_the_price_of_a_call() -> None:
    assert Budget(10.0, 9.0).stop(16) is None
    assert Budget(10.0, 10.0).stop(0)
    budget = Budget(10.0, 9.0)
    budget.spend(0.4)

    assert budget.stop(1) is None
    assert budget.stop(2)


def test_a_budget_of_nothing_allows_nothing() -> None:
    assert Budget(0.0).stop(0)


def test_the_budget_is_told_as_the_user_has_set_it() -> None:
    stop = Budget(5.0, 5.0).stop(0)

    assert stop
    message = "the budget of $5 (limits.budget_usd) was used up: $5.0000 spent"
    assert (stop.label, stop.message) == ("budget", message)


def test_a_share_of_a_budget_grows_until_nothing_is_left() -> None:
    grants = BudgetGrants(8.0, 2.0, 1)
    shares = [Budget(8.0, more=grants.grant) for _ in range(2)]
    paid = 0
    while not all(share.stop(0) for share in shares):
        for share in shares:
            if not share.stop(0):
                share.spend(0.5)
                paid += 1

    assert paid == 12
    stop = shares[0].stop(0)
    assert stop
    assert stop.message.startswith("the budget of $8 (limits.budget_usd) was used up: $")
    assert stop.message.endswith(" spent by one of several processes")


def test_calls_on_their_way_count_in_a_share_of_a_budget() -> None:
    share = Budget(1.0, more=BudgetGrants(1.0, 0.0, 4).grant)
    assert share.stop(0) is None
    share.spend(0.3)

    assert share.stop(2) is None
    assert share.stop(3)


def test_everybody_is_told_once_and_the_stop_stays() -> None:
    told: list[Stop] = []
    budget = Budget(1.0)
    budget.on_stop(told.append)
    budget.on_stop(told.append)
    budget.spend(1.25)
    first, second = budget.stop(1), budget.stop(0)

    assert first is second
    assert told == [first, first]
    assert first
    assert (first.label, first.is_urgent) == ("budget", False)
    assert first.message == ("the budget of $1 (limits.budget_usd) was used up: $1.2500 spent")


def test_a_stop_says_why_and_whether_calls_are_broken_off() -> None:
    late = deadline_stop(90.0)

    assert (late.label, late.is_urgent) == ("deadline", False)
    assert late.message == "the deadline of 90 s (limits.deadline_s) was over"
    assert (CANCEL.label, CANCEL.is_urgent) == ("cancelled", True)


@given(
    limit=st.floats(0, 0.002),
    concurrency=st.integers(1, 8),
    records=st.integers(1, 60),
    before=st.floats(0, 0.002),
)
def test_a_run_spends_no_more_than_its_budget_and_the_calls_in_flight(
    limit: float, concurrency: int, records: int, before: float
) -> None:
    """Every call costs $0.00015: ten tokens at $5 and five at $20 a million."""
    cost = 0.00015
    bench = Bench(ScriptedTarget())
    bench.price = (5.0, 20.0)
    bench.budget = Budget(limit, before)
    limiter = Limiter(bench.clock, concurrency)
    loop = bench.loop((work(index) for index in range(records)), limiter=limiter)

    async def run() -> None:
        await bench.clock.carry(loop.run(concurrency))

    asyncio.run(run())
    statuses = list(bench.statuses().values())
    spent = before + cost * len(bench.target.calls)

    assert len(statuses) == records
    assert set(statuses) <= {"evaluated", "cancelled"}
    assert statuses.count("evaluated") == len(bench.target.calls)
    assert spent <= max(limit, before) + concurrency * cost
    if "cancelled" in statuses:
        assert spent + concurrency * cost > limit
        kept = [r for r in bench.ledger.results.values() if r.status == "cancelled"]
        assert {result.label for result in kept} == {"budget"}
        assert {result.attempts for result in kept} == {0}
