"""End a run before its last record."""

from __future__ import annotations

from steelyard.engine.states import is_terminal
from steelyard.errors import UsageError
from steelyard.model.run import StoredRun
from steelyard.usecases.run import is_held, resume_run
from steelyard.usecases.run_ports import RunDoor

_LOOK_S = 0.2


async def cancel_run(door: RunDoor, run: StoredRun, patience_s: float = 30.0) -> StoredRun:
    """Ask for a run to be cancelled and wait until it is.

    Whoever works on it breaks off its calls and seals what there is; a run that nobody works on
    is sealed here. The run as it is afterwards, which may be still at work when its process does
    not answer in time.
    """
    if is_terminal(run.status):
        return run
    door.repository.request_cancel(run.run_id)
    deadline = door.clock.monotonic() + patience_s
    while True:
        now = door.repository.find(run.run_id)
        if is_terminal(now.status) or door.clock.monotonic() > deadline:
            return now
        if not is_held(door, now):
            await _seal(door, now)
            continue
        await door.clock.sleep(_LOOK_S)


async def _seal(door: RunDoor, run: StoredRun) -> None:
    """Carry a cancelled run to its end, unless somebody else does so just now."""
    try:
        await resume_run(door, run, _ignore)
    except UsageError:
        now = door.repository.find(run.run_id)
        if not is_terminal(now.status) and not is_held(door, now):
            raise


def _ignore(_: object) -> None:
    """Nobody looks on."""
