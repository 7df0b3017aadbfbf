"""Whether somebody works on a run, or whether it was stopped and can be resumed."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.engine.states import is_terminal
from steelyard.results.stored_run import StoredRun

STOPPED = "stopped, can be resumed"


def has_owner(run: StoredRun, is_alive: Callable[[str], bool]) -> bool:
    """Whether a run's owner still has it; one that is gone, or rested too long, has not."""
    if run.owner is None:
        return False
    is_current = run.lease_left_s is None or run.lease_left_s > 0
    return is_current and is_alive(run.owner)


def is_resumable(run: StoredRun, is_alive: Callable[[str], bool]) -> bool:
    """Whether a run has not ended, and its process is gone; a pruned one has nothing left."""
    return not is_terminal(run.status) and run.plan is not None and not has_owner(run, is_alive)
