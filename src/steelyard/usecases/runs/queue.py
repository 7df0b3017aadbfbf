"""The queue of runs: workers execute them, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from steelyard.engine.redaction.redactor import Redactor
from steelyard.engine.states import is_terminal
from steelyard.errors import (
    BucketAwayError,
    ConflictError,
    EngineAwayError,
    RunError,
    SteelyardError,
    StoreAwayError,
)
from steelyard.execution.evaluating import OnResult
from steelyard.execution.worker_thread import in_thread
from steelyard.formats.encoding import without_surrogates
from steelyard.formats.root_paths import text_from
from steelyard.model.audit import CANCEL, AuditEntry, Caller
from steelyard.model.upload import upload_name
from steelyard.results.stored_run import StoredRun, require_plan
from steelyard.settings import RedactionRules
from steelyard.usecases.runs.cancel import cancel_run
from steelyard.usecases.runs.execute import (
    execute_claimed,
    is_held,
    prepare_again,
)
from steelyard.usecases.runs.ownership import has_owner, missing_input
from steelyard.usecases.runs.ports import RunPorts

_SUSPECT = 3
"""So many processes have claimed a run."""


class Queue(Protocol):
    """The runs that workers execute, whatever becomes of a worker."""

    def waiting(self) -> Sequence[StoredRun]:
        """Those that workers hold or held, and the first that nobody holds; the oldest first."""
        ...

    def add(self, run_id: str) -> None:
        """Let the next worker that is free execute a run."""
        ...

    def resume(self, run_id: str, entry: AuditEntry) -> bool:
        """Add a run that has not ended and is not being cancelled; False for any other."""
        ...

    def remove(self, run_id: str, at: str, why: str) -> None:
        """Let no worker execute a run by itself any more, with a warning that says why."""
        ...


def next_queued_run(queue: Queue, is_alive: Callable[[str], bool]) -> StoredRun | None:
    """The oldest queued run that no process works on.

    One that seems to kill the processes that execute it comes after all others.
    """
    free = (run for run in queue.waiting() if not has_owner(run, is_alive))
    return min(free, key=lambda run: (_is_suspect(run), run.created_at, run.run_id), default=None)


def _is_suspect(run: StoredRun) -> bool:
    """Whether the last of several processes has died without releasing a run."""
    return run.owner is not None and run.fence >= _SUSPECT


def enqueue_run(
    ports: RunPorts, queue: Queue, name: str, *, caller: Caller | None = None
) -> StoredRun:
    """Let a worker resume an interrupted run; one that is being executed stays as it is."""
    ports = ports.called_by(caller)
    run = ports.repository.find(name)
    require_plan(run)
    if is_terminal(run.status):
        raise ConflictError(f"{run.run_id} is finished: {run.status}")
    if run.is_cancelling:
        raise ConflictError(f"{run.run_id} is being cancelled")

    def has_upload(upload_id: str) -> bool:
        return ports.workspace.is_file(Path(upload_name(upload_id)))

    if why := missing_input(run, has_upload, ports.inputs.is_lost):
        raise ConflictError(f"{run.run_id} cannot be resumed: {why}")
    entry = ports.entry("resume_run", run.run_id)
    if not (run.is_queued or is_held(ports, run) or queue.resume(run.run_id, entry)):
        raise ConflictError(f"{run.run_id} is being cancelled")
    return run


def request_cancel(
    ports: RunPorts, queue: Queue, name: str, *, caller: Caller | None = None
) -> StoredRun:
    """Ask for a run to be cancelled, without waiting until it is.

    Whoever works on it does so within a second; else the next worker, or a caller who does not
    wait for that and cancels it itself.
    """
    ports = ports.called_by(caller)
    run = ports.repository.find(name)
    require_plan(run)
    if is_terminal(run.status):
        raise ConflictError(f"{run.run_id} is finished: {run.status}")
    entry = ports.entry(CANCEL, run.run_id)
    ports.repository.request_cancel(run.run_id, entry)
    if not (run.is_queued or is_held(ports, run)):
        queue.add(run.run_id)
    return run


async def execute_queued_run(
    ports: RunPorts,
    queue: Queue,
    run: StoredRun,
    on_result: OnResult,
    *,
    caller: Caller | None = None,
) -> None:
    """Execute a queued run, or what is left of it.

    A run that cannot go on leaves the queue with a warning that says why, and waits for somebody
    to resume it.
    """
    ports = ports.called_by(caller)
    try:
        if run.is_cancelling:
            await cancel_run(ports, run)
        elif await in_thread(lambda: _is_claimed(ports, run)):
            await _execute(ports, run, on_result)
    except (StoreAwayError, BucketAwayError, EngineAwayError):
        raise  # it stays in the queue
    except (SteelyardError, OSError) as error:
        now = ports.repository.find(run.run_id)
        if now.is_cancelling and not run.is_cancelling and now.owner is None:
            # Cancelled meanwhile: it can be sealed without what it cannot read.
            await execute_queued_run(ports, queue, now, on_result, caller=caller)
        else:
            _give_up(ports, queue, run, error)


def _is_claimed(ports: RunPorts, run: StoredRun) -> bool:
    """Take a run over; from then on its document is being validated."""
    entry = ports.entry("resume_run" if run.fence else "execute_run", run.run_id)
    if not ports.repository.claim(run, ports.owner, ports.clock.stamp(), entry):
        return False
    if run.status == "queued":
        ports.repository.move(run.run_id, "validating", ports.clock.stamp(), ports.caller)
    return True


async def _execute(ports: RunPorts, run: StoredRun, on_result: OnResult) -> None:
    is_new = run.status == "queued"
    held = replace(
        run,
        status="validating" if is_new else run.status,
        owner=ports.owner,
        fence=run.fence + 1,
    )
    try:
        prepared = await prepare_again(ports.of_run(run), held)
    except BaseException:
        with suppress(RunError):
            ports.repository.release(run.run_id, ports.clock.stamp())
        raise
    await execute_claimed(ports.of_run(run), held, prepared, on_result, is_resumed=not is_new)


def _give_up(ports: RunPorts, queue: Queue, run: StoredRun, error: Exception) -> None:
    """Take a run out of the queue that would fail again and again."""
    now = ports.repository.find(run.run_id)
    if now.owner not in {None, ports.owner}:
        return  # another process has taken it over
    redact = Redactor.by(RedactionRules.planned(require_plan(run).redacted), ports.secrets)
    reason = text_from(ports.root, f"not executed further: {error}")
    why = without_surrogates(redact.text(reason))
    queue.remove(run.run_id, ports.clock.stamp(), why)
    ports.warn(f"{run.run_id} is {why}")
