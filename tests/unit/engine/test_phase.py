"""A run is retrying when no first attempt is left anywhere and at least one record waits."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.phase import Phase
from steelyard.engine.states import require_move
from steelyard.model.run import RunState


class Told:
    """The states that a phase has told, in order."""

    def __init__(self, state: RunState = "running") -> None:
        self.states: list[RunState] = [state]

    async def move(self, state: RunState) -> None:
        require_move(self.states[-1], state)
        self.states.append(state)


def phase_of(told: Told, *loops: str) -> Phase:
    made = Phase(told.states[-1], told.move)
    for loop in loops:
        made.join(loop)
    return made


def carry(*steps: Coroutine[Any, Any, None]) -> None:
    async def run() -> None:
        for step in steps:
            await step

    asyncio.run(run())


def test_one_loop_that_only_retries_is_a_run_that_does() -> None:
    told = Told()
    phase = phase_of(told, "a")
    carry(
        phase.report("a", is_only_retrying=False),
        phase.report("a", is_only_retrying=True),
        phase.report("a", is_only_retrying=True),
        phase.report("a", is_only_retrying=False),
        phase.leave("a"),
    )

    assert told.states == ["running", "retrying", "running"]


def test_a_run_goes_on_running_while_one_loop_has_first_attempts_left() -> None:
    told = Told()
    phase = phase_of(told, "a", "b")
    carry(
        phase.report("a", is_only_retrying=True),
        phase.report("b", is_only_retrying=False),
    )
    assert told.states == ["running"]
    carry(phase.report("b", is_only_retrying=True))
    assert told.states == ["running", "retrying"]


def test_a_loop_that_is_through_leaves_the_others_to_retry() -> None:
    told = Told()
    phase = phase_of(told, "a", "b")
    carry(phase.report("a", is_only_retrying=True), phase.leave("b"))
    assert told.states == ["running", "retrying"]
    carry(phase.report("a", is_only_retrying=False), phase.leave("a"))
    assert told.states == ["running", "retrying", "running"]


@pytest.mark.parametrize(("before", "told_after"), [("running", []), ("retrying", ["running"])])
def test_a_run_that_was_stopped_goes_on_running(
    before: RunState, told_after: list[RunState]
) -> None:
    moved: list[RunState] = []

    async def move(state: RunState) -> None:
        moved.append(state)

    phase = Phase(before, move)
    phase.join("a")
    carry(phase.report("a", is_only_retrying=False))

    assert moved == told_after


def test_a_cancelled_run_is_finalizing_whatever_its_loops_do_afterwards() -> None:
    told = Told("retrying")
    phase = phase_of(told, "a", "b")
    carry(
        phase.stop(),
        phase.stop(),
        phase.report("a", is_only_retrying=False),
        phase.report("b", is_only_retrying=True),
        phase.leave("a"),
    )

    assert told.states == ["retrying", "finalizing"]


@pytest.mark.parametrize("before", ["queued", "validating", "finalizing"])
def test_a_run_that_never_began_or_was_cancelled_before_stays_in_its_state(
    before: RunState,
) -> None:
    told = Told(before)
    phase = phase_of(told, "a")
    carry(phase.report("a", is_only_retrying=True), phase.stop(), phase.leave("a"))

    assert told.states == [before]


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(["retries", "works", "leaves"])), max_size=30
    )
)
def test_whatever_loops_do_the_state_is_theirs(steps: list[tuple[int, str]]) -> None:
    told = Told()
    phase = phase_of(told, "0", "1", "2")
    standing: dict[str, bool] = {"0": False, "1": False, "2": False}

    async def run() -> None:
        for number, what in steps:
            loop = str(number)
            if loop not in standing:
                continue
            if what == "leaves":
                standing.pop(loop)
                await phase.leave(loop)
            else:
                standing[loop] = what == "retries"
                await phase.report(loop, is_only_retrying=standing[loop])
            if standing:
                expected = "retrying" if all(standing.values()) else "running"
                assert told.states[-1] == expected

    asyncio.run(run())
