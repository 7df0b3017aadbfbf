"""Cancel, resume, retry and regrade runs."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.engine.states import is_terminal
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
from steelyard.execution.run_options import RunOptions
from steelyard.model.names import require_name
from steelyard.project import Project
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.runs.cancel import cancel_run
from steelyard.usecases.runs.derived_runs import regrade_options, retry_options
from steelyard.usecases.runs.execute import create_run, is_held
from steelyard.usecases.runs.posted_runs import require_reference
from steelyard.usecases.runs.queue import enqueue_run, request_cancel

_LOG = logging.getLogger("steelyard.runs")
# Runs that nobody works on are sealed here, so that a cancel need not wait for a busy worker.
_SEALING = ThreadPoolExecutor(2, "steelyard-cancel")


class ChangedRun(msgspec.Struct, frozen=True):
    """A run that somebody works on, or a worker will."""

    run_id: str
    status: str
    derived_from: str | None


class RegradeBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What grades the stored answers."""

    rubric: str
    """A reference such as rubric/polite@1.0."""


def _cancel(call: Call[NoQuery, None]) -> JsonReply:
    project, ports = call.project, call.project.run_ports()
    run = request_cancel(ports, project.run_queue, call.path["run_id"], caller=call.caller)
    if not is_held(ports, run):
        _SEALING.submit(_seal, project, run.run_id)
    return _changed(run)


def _seal(project: Project, run_id: str) -> None:
    try:
        ports = project.run_ports()
        run = ports.repository.find(run_id)
        run_async(lambda: cancel_run(ports, run))
    except SteelyardError as error:
        # It stays in the queue, and so a worker tries it as well.
        _LOG.warning("%s could not be cancelled: %s", run_id, error)


def _resume(call: Call[NoQuery, None]) -> JsonReply:
    project, ports = call.project, call.project.run_ports()
    run = enqueue_run(ports, project.run_queue, call.path["run_id"], caller=call.caller)
    return _changed(run)


def _retry(call: Call[NoQuery, None]) -> JsonReply:
    return _derived(call, retry_options(_folder(call)))


def _regrade(call: Call[NoQuery, RegradeBody]) -> JsonReply:
    rubric = call.body.rubric
    require_name("rubric", rubric)
    require_reference("rubric", rubric)
    return _derived(call, regrade_options(_folder(call), rubric))


def _folder(call: Call[NoQuery, Any]) -> Path:
    """The folder of a finished run, whose files are as they were sealed."""
    run = call.project.store.find(call.path["run_id"])
    if not is_terminal(run.status):
        raise ConflictError(f"{run.run_id} is not finished: {run.status}")
    return call.project.run_folder(run.run_id)


def _derived(call: Call[NoQuery, Any], options: RunOptions) -> JsonReply:
    ports = call.project.run_ports()
    try:
        run = run_async(lambda: create_run(ports, options, in_place=True, caller=call.caller))
    except NotFoundError as wrong:
        # What is missing is named by the request or by the run, which is there.
        raise InvalidError(str(wrong)) from None
    except (RequestError, UnavailableError):
        raise
    except RunError as wrong:
        raise ConflictError(str(wrong)) from None
    return _changed(run)


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
        errors=(404, 409, 410),
    ),
    Operation(
        method="POST",
        path="/v1/runs/{run_id}/resume",
        summary="Resume an interrupted run.",
        scope="runs:write",
        handle=_resume,
        answers={202: ChangedRun},
        errors=(404, 409, 410),
    ),
    Operation(
        method="POST",
        path="/v1/runs/{run_id}/retry",
        summary="Repeat failed records in a new run and copy all other results.",
        scope="runs:write",
        handle=_retry,
        answers={202: ChangedRun},
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
        errors=(404, 409, 410),
    ),
)
