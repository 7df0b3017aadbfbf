"""The states of a run as contract 2 draws them; no other move is possible."""

from __future__ import annotations

from steelyard.errors import RunError
from steelyard.model.run import TERMINAL, RunState

_STOPS: tuple[RunState, ...] = ("failed", "cancelled")
MOVES: dict[RunState, tuple[RunState, ...]] = {
    "queued": ("validating", *_STOPS),
    "validating": ("running", *_STOPS),
    "running": ("retrying", "finalizing", *_STOPS),
    "retrying": ("running", "finalizing", *_STOPS),
    "finalizing": ("completed", "completed_with_failures", *_STOPS),
    "completed": (),
    "completed_with_failures": (),
    "failed": (),
    "cancelled": (),
}


def require_move(old: RunState, new: RunState) -> None:
    """Refuse a move that the diagram does not have."""
    if new not in MOVES[old]:
        allowed = ", ".join(MOVES[old]) or "none; it is final"
        raise RunError(f"a run cannot go from {old} to {new}; possible: {allowed}")


def is_terminal(state: RunState) -> bool:
    """Whether nothing can follow."""
    return state in TERMINAL
