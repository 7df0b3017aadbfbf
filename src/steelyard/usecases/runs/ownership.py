"""Whether a process works on a run, or it was interrupted and can be resumed."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.engine.states import is_terminal
from steelyard.results.stored_run import StoredRun

STOPPED = "stopped, can be resumed"


def has_owner(run: StoredRun, is_alive: Callable[[str], bool]) -> bool:
    """Whether the owner of a run is alive and has sent a recent heartbeat."""
    if run.owner is None:
        return False
    is_current = run.lease_left_s is None or run.lease_left_s > 0
    return is_current and is_alive(run.owner)


def is_resumable(run: StoredRun, is_alive: Callable[[str], bool]) -> bool:
    """Whether a run was started and has not ended, and its process is gone.

    A pruned one has nothing left, and one that waits in the queue was not interrupted.
    """
    is_started = run.fence > 0 and run.plan is not None
    return is_started and not is_terminal(run.status) and not has_owner(run, is_alive)


def status_text(run: StoredRun, is_alive: Callable[[str], bool]) -> str:
    """The status of a run as people read it."""
    return STOPPED if is_resumable(run, is_alive) else run.status
