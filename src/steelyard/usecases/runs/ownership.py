"""Whether a process works on a run, or it was interrupted and can be resumed."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.engine.states import is_terminal
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.upload import upload_of
from steelyard.results.stored_run import StoredRun

STOPPED = "stopped, can be resumed"
UNRESUMABLE = "stopped, cannot be resumed"
CANCELLING = "being cancelled"
_UPLOAD_GONE = (
    "its dataset was posted and is no longer stored; cancel the run and post the dataset again"
)
_INPUTS_LOST = "its inputs were not restored; cancel it and run the dataset again"
_NOT_SEALED = "it was cancelled, but its results are not sealed yet; cancel it again"


class Standing(FrozenStruct, frozen=True, kw_only=True):
    """Where a run stands, beside the state that contract 2 gives it."""

    text: str
    """Its status as people read it."""
    is_resumable: bool = False
    """Whether it was started and has not ended, and its process is gone."""
    is_cancelling: bool = False
    """Whether a cancellation was requested and the run has not ended."""
    is_waiting: bool = False
    """Whether the next worker that is free begins or resumes it."""
    why_not_resumable: str | None = None
    """Why a run that was stopped cannot be resumed."""

    @property
    def has_stopped(self) -> bool:
        """Whether it was started and has not ended, and nobody works on it."""
        return self.is_resumable or self.why_not_resumable is not None

    def json(self) -> JsonObject:
        """Its members in the row of a run."""
        return {
            "cancelling": self.is_cancelling,
            "waiting": self.is_waiting,
            "resumable": self.is_resumable,
            "unresumable": self.why_not_resumable,
        }


def has_owner(run: StoredRun, is_alive: Callable[[str], bool]) -> bool:
    """Whether the owner of a run is alive and has sent a recent heartbeat."""
    if run.owner is None:
        return False
    is_current = run.lease_left_s is None or run.lease_left_s > 0
    return is_current and is_alive(run.owner)


def standing_of(
    run: StoredRun,
    is_alive: Callable[[str], bool],
    has_upload: Callable[[str], bool],
    is_lost: Callable[[str], bool],
) -> Standing:
    """Where a run stands.

    `has_upload` says whether a posted dataset is still stored, `is_lost` whether a restore has
    left out what was kept for a run.
    """
    if is_terminal(run.status):
        return Standing(text=run.status)
    is_cancelling = run.is_cancelling
    if not _is_stopped(run, is_alive, is_lost):
        text = CANCELLING if is_cancelling else run.status
        is_waiting = run.is_queued and not is_cancelling and not has_owner(run, is_alive)
        return Standing(text=text, is_cancelling=is_cancelling, is_waiting=is_waiting)
    if is_cancelling:
        # A worker seals it, unless it left the queue because it could not be sealed.
        why = None if run.is_queued else _NOT_SEALED
    else:
        why = missing_input(run, has_upload, is_lost)
    if why:
        return Standing(text=UNRESUMABLE, is_cancelling=is_cancelling, why_not_resumable=why)
    if is_cancelling:
        return Standing(text=CANCELLING, is_cancelling=True)
    return Standing(text=STOPPED, is_resumable=True, is_waiting=run.is_queued)


def _is_stopped(
    run: StoredRun, is_alive: Callable[[str], bool], is_lost: Callable[[str], bool]
) -> bool:
    """Whether a run was started and its process is gone.

    A pruned one has nothing left, and one that waits in the queue was not interrupted, unless a
    restore took it out of the queue.
    """
    if run.plan is None or has_owner(run, is_alive):
        return False
    return run.fence > 0 or (not run.is_queued and is_lost(run.run_id))


def missing_input(
    run: StoredRun, has_upload: Callable[[str], bool], is_lost: Callable[[str], bool]
) -> str | None:
    """What a run that was stopped lacks to go on; a derived one reads its parent's folder."""
    options = run.plan.options if run.plan else None
    upload = upload_of(options.dataset) if options and not options.derived else None
    if upload is not None and not has_upload(upload):
        return _UPLOAD_GONE
    return _INPUTS_LOST if is_lost(run.run_id) else None
