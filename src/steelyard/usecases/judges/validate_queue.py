"""Validate the judge of a review queue with the blind labels of its people."""

from __future__ import annotations

from dataclasses import replace

from steelyard.errors import InvalidError, RequestError
from steelyard.model.audit import Caller
from steelyard.model.labels.queue import QueueSource, ReviewQueue
from steelyard.model.run import Result
from steelyard.reports.judges.judge_validation import JudgeValidationReport
from steelyard.usecases.correction.validation_rules import MOST_LEFT_OUT
from steelyard.usecases.judges.validate_judge import (
    ValidationPorts,
    ValidationRequest,
    plan_validation,
    validate_judge,
)
from steelyard.usecases.review.queues.ports import JudgedItem, QueuePorts
from steelyard.usecases.review.queues.queue_rubric import rubric_of


async def validate_from_queue(
    ports: ValidationPorts, queues: QueuePorts, queue_id: str, *, caller: Caller | None = None
) -> JudgeValidationReport:
    """Compare the newest judgement of a queue with people, and record that."""
    queue = queues.queues.find(queue_id)
    drawn = _drawn(queues, queue_id)
    judged = _judged(queues, queue)
    request = ValidationRequest(
        judge=judged.judge or "",
        runs=(judged.run_id,),
        check=judged.check,
        rubric=queue.rubric,
        queue=queue_id,
    )
    plan = plan_validation(ports, request)
    report = await validate_judge(ports, plan, _unnoted, _unseen, caller=caller)
    if report.refusals:
        raise InvalidError("; ".join(report.refusals))
    return replace(report, notes=(drawn, *report.notes))


def _drawn(queues: QueuePorts, queue_id: str) -> str:
    """What became of the items of a queue; refused where people skipped too many of them."""
    items = {one.item_id for one in queues.queues.items(queue_id)}
    drafts = queues.progress.drafts(queue_id)
    answered = {one.item_id for one in drafts if one.standing == "submitted"} & items
    skipped = ({one.item_id for one in drafts if one.standing == "skipped"} & items) - answered
    rest = len(items) - len(answered) - len(skipped)
    counts = f"of {len(items):,} items {len(answered):,} are answered, {len(skipped):,} skipped"
    if len(skipped) > MOST_LEFT_OUT * len(items):
        raise InvalidError(
            f"{counts}: more than {100 * MOST_LEFT_OUT:g} % skipped hides what is "
            "hard to say, and the rest is no longer the sample that was drawn; let somebody "
            "answer those"
        )
    chosen = "; rates hold if nobody chose which ones to answer" * bool(rest)
    return f"{counts}, {rest:,} not answered{chosen}"


def _judged(queues: QueuePorts, queue: ReviewQueue) -> JudgedItem:
    """An answer of the newest judgement: it names the judge, the check and the run."""
    rubric = rubric_of(queue)
    items = queues.queues.items(queue.queue_id)
    for run_id in (*reversed(queue.judged_by), queue.source.id):
        for item in items:
            try:
                source = queues.source(QueueSource(kind="run", id=run_id))
                found = source.judged(rubric, item.index, item.repeat)
            except RequestError:
                break  # the run is gone, or has not come to its records
            if found and found[0].judge is not None:
                return found[0]
    raise InvalidError("no judge has answered the items of this queue yet; start one first")


def _unnoted(run_id: str) -> None:
    """Nobody waits to hear that the run of canaries has begun."""


def _unseen(result: Result) -> None:
    """Nor of each of its results."""
