"""Auto Judgment: a judge answers the rubric of people about stored traces, in a run of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from steelyard.errors import ConflictError, InvalidError, argument
from steelyard.execution.run_options import RunOptions
from steelyard.model.audit import Caller
from steelyard.model.labels.queue import ReviewQueue
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.review.labels import KnownRubrics
from steelyard.usecases.review.queues.ports import QueuePorts
from steelyard.usecases.runs.derived_runs import regrade_options
from steelyard.usecases.runs.execute import create_run
from steelyard.usecases.runs.ports import RunPorts


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementRequest:
    """What a judge answers: the items of a queue, or all responses of a run."""

    run_id: str | None = None
    queue_id: str | None = None
    rubric: str | None = None
    """The question rubric; by default that of the queue."""
    judge: str | None = None
    """The judge; by default the project's judge of question rubrics."""


async def start_judgement(
    runs: RunPorts, queues: QueuePorts, request: JudgementRequest, *, caller: Caller | None = None
) -> StoredRun:
    """Queue a run that grades stored traces with a question rubric; no target is called."""
    runs, queues = runs.called_by(caller), queues.called_by(caller)
    if (request.run_id is None) == (request.queue_id is None):
        raise InvalidError("name either `run_id` or `queue_id`")
    options = judgement_options(queues, request)
    run = await create_run(runs, options, in_place=True, caller=caller)
    if request.queue_id is not None:
        attach_judgement(queues, request.queue_id, run.run_id)
    return run


def attach_judgement(queues: QueuePorts, queue_id: str, run_id: str) -> None:
    """Let the answers of a run's judge stand beside those of a queue's people."""
    entry = queues.entry("judge_queue", queue_id, run_id=run_id)
    queues.queues.add_judgement(queue_id, run_id, entry)


def judgement_options(queues: QueuePorts, request: JudgementRequest) -> RunOptions:
    """The options of the run in which a judge answers."""
    queue = queues.queues.find(request.queue_id) if request.queue_id is not None else None
    rubric = request.rubric or (queue.rubric if queue else None)
    if rubric is None:
        raise InvalidError(f"name the question rubric with {argument('rubric')}")
    found = KnownRubrics(queues.review.references).find(rubric)
    if isinstance(found, str):
        raise InvalidError(found)
    if queue is not None and str(found.reference) != queue.rubric:
        raise InvalidError(f"the items of {queue.queue_id} are answered with {queue.rubric}")
    if queue is not None and found.sha256 != queue.rubric_sha256:
        raise ConflictError(
            f"{queue.rubric} has changed since {queue.queue_id} was made; make a new queue"
        )
    folder, only = _traces(queues, request, queue)
    options = regrade_options(folder, str(found.reference), only)
    return structs.replace(options, judge=request.judge or options.judge)


def _traces(
    queues: QueuePorts, request: JudgementRequest, queue: ReviewQueue | None
) -> tuple[Path, list[int] | None]:
    if queue is None:
        assert request.run_id is not None
        return queues.review.known_run(request.run_id), None
    items = queues.queues.items(queue.queue_id)
    return queues.review.known_run(queue.source.id), sorted({one.index for one in items})
