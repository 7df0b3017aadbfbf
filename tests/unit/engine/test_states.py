"""The states of a run: every move of contract 2's diagram, and no other."""

from __future__ import annotations

from typing import get_args

import pytest

from steelyard.engine.states import is_terminal, require_move
from steelyard.errors import RunError
from steelyard.model.run import RunState

STATES: tuple[RunState, ...] = get_args(RunState)
LEGAL: set[tuple[RunState, RunState]] = {
    ("queued", "validating"),
    ("validating", "running"),
    ("running", "retrying"),
    ("retrying", "running"),
    ("running", "finalizing"),
    ("retrying", "finalizing"),
    ("finalizing", "completed"),
    ("finalizing", "completed_with_failures"),
    ("queued", "failed"),
    ("validating", "failed"),
    ("running", "failed"),
    ("retrying", "failed"),
    ("finalizing", "failed"),
    ("queued", "cancelled"),
    ("validating", "cancelled"),
    ("running", "cancelled"),
    ("retrying", "cancelled"),
    ("finalizing", "cancelled"),
}


@pytest.mark.parametrize("new", STATES)
@pytest.mark.parametrize("old", STATES)
def test_a_move_is_possible_exactly_when_the_diagram_has_it(old: RunState, new: RunState) -> None:
    if (old, new) in LEGAL:
        require_move(old, new)
    else:
        with pytest.raises(RunError, match=f"cannot go from {old} to {new}; possible: "):
            require_move(old, new)


@pytest.mark.parametrize("state", STATES)
def test_a_state_is_final_when_nothing_follows_it(state: RunState) -> None:
    assert is_terminal(state) is all(old != state for old, _ in LEGAL)


def test_a_refusal_says_what_would_be_possible() -> None:
    with pytest.raises(RunError, match="possible: validating, failed, cancelled"):
        require_move("queued", "completed")
    with pytest.raises(RunError, match="possible: none; it is final"):
        require_move("completed", "running")
