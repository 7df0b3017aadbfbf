"""Cancel, resume, retry and regrade runs."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.repeated_requests import IDEMPOTENCY_KEY, answer_once
from steelyard.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
    RequestError,
    RunError,
    SteelyardError,
    UnavailableError,
)
from steelyard.event_loop import run_async
from steelyard.model.audit import Caller
from steelyard.project import Project
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.runs.cancel import cancel_run
from steelyard.usecases.runs.execute import is_held
from steelyard.usecases.runs.queue import enqueue_run, request_cancel
from steelyard.usecases.runs.queue_derived import FinishedRuns

Made = TypeVar("Made")
_LOG = logging.getLogger("steelyard.runs")
# Runs that nobody works on are sealed here, so that a cancel need not wait for a busy worker.
_SEALING = ThreadPoolExecutor(2, "steelyard-cancel")


class ChangedRun(msgspec.Struct, frozen=True):
    """A run that somebody works on, or a worker will."""

    run_id: str
    """The run, or the new one."""
    status: str
    """Its state when the request was accepted."""
    derived_from: str | None
    """The run that a new one was made of."""


class RegradeBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What grades the stored answers."""

    rubric: str
    """A reference such as rubric/polite@1.0."""


def cancel_stored(project: Project, run_id: str, caller: Caller) -> StoredRun:
    """Let a run end; one that nobody works on is sealed at once."""
    ports = project.run_ports()
    run = request_cancel(ports, project.run_queue, run_id, caller=caller)
    if not is_held(ports, run):
        _SEALING.submit(_seal, project, run.run_id)
    return run


def finished_runs(project: Project) -> FinishedRuns:
    """The runs that new ones can be derived from."""
    return FinishedRuns(project.run_ports(), project.run_folder)


def _seal(project: Project, run_id: str) -> None:
    try:
        ports = project.run_ports()
        run = ports.repository.find(run_id)
        run_async(lambda: cancel_run(ports, run))
    except SteelyardError as error:
        # It stays in the queue, and so a worker tries it as well.
        _LOG.warning("%s could not be cancelled: %s", run_id, error)


async def _cancel(call: Call[NoQuery, None]) -> JsonReply:
    """Calls that are under way are cut off; what the run has is kept. 409 if it has ended."""
    name, caller = call.path["run_id"], call.caller
    return await _once(call, lambda _: cancel_stored(call.project, name, caller))


async def _resume(call: Call[NoQuery, None]) -> JsonReply:
    """A worker goes on with the same run; what it has is kept. 409 if it has ended."""
    project, name, caller = call.project, call.path["run_id"], call.caller
    return await _once(
        call, lambda _: enqueue_run(project.run_ports(), project.run_queue, name, caller=caller)
    )


async def _retry(call: Call[NoQuery, None]) -> JsonReply:
    """A new run over all records. 409 if the run has not ended, or what it used has changed."""
    name, caller = call.path["run_id"], call.caller

    def make(run_id: str) -> StoredRun:
        runs = finished_runs(call.project)
        return run_async(lambda: runs.queue_retry(name, run_id=run_id, caller=caller))

    return await _once(call, make)


async def _regrade(call: Call[NoQuery, RegradeBody]) -> JsonReply:
    """No target is called. The stored answers are graded as they are, redacted. 409 if the run
    has not ended."""
    name, rubric, caller = call.path["run_id"], call.body.rubric, call.caller

    def make(run_id: str) -> StoredRun:
        runs = finished_runs(call.project)
        return run_async(lambda: runs.queue_regrade(name, rubric, run_id=run_id, caller=caller))

    return await _once(call, make)


async def _once(call: Call[NoQuery, Any], make: Callable[[str], StoredRun]) -> JsonReply:
    """The answer of a change, which a repeat with the same `Idempotency-Key` gets again."""
    content = hashlib.sha256(msgspec.json.encode(call.body)).hexdigest()
    return await answer_once(call, content, lambda run_id: _changed(make(run_id)))


def queued_run(create: Callable[[], Coroutine[Any, Any, Made]]) -> Made:
    """Queue a run of what is stored; what it lacks is an error of the request."""
    try:
        return run_async(create)
    except NotFoundError as wrong:
        # What is missing is named by the request or by the run, which is there.
        raise InvalidError(*wrong.args) from None
    except (RequestError, UnavailableError):
        raise
    except RunError as wrong:
        raise ConflictError(*wrong.args) from None


def _changed(run: StoredRun) -> JsonReply:
    derived = run.plan.options.derived if run.plan else None
    parent = derived.run_id if derived else None
    return JsonReply(body=ChangedRun(run.run_id, run.status, parent), status=202)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path="/v1/runs/{run_id}/cancel",
        summary="Stop a run and finalize its partial results.",
        scope="runs:write",
        handle=_cancel,
        answers={202: ChangedRun},
        request_headers=IDEMPOTENCY_KEY,
        errors=(404, 409, 410),
    ),
    Operation(
        method="POST",
        path="/v1/runs/{run_id}/resume",
        summary="Resume an interrupted run.",
        scope="runs:write",
        handle=_resume,
        answers={202: ChangedRun},
        request_headers=IDEMPOTENCY_KEY,
        errors=(404, 409, 410),
    ),
    Operation(
        method="POST",
        path="/v1/runs/{run_id}/retry",
        summary="Repeat failed records in a new run and copy all other results.",
        scope="runs:write",
        handle=_retry,
        answers={202: ChangedRun},
        request_headers=IDEMPOTENCY_KEY,
        errors=(404, 409, 410),
    ),
    Operation(
        method="POST",
        path="/v1/runs/{run_id}/regrade",
        summary="Grade the stored answers of a run with another rubric, in a new run.",
        scope="runs:write",
        handle=_regrade,
        body=RegradeBody,
        answers={202: ChangedRun},
        request_headers=IDEMPOTENCY_KEY,
        errors=(404, 409, 410),
    ),
)
