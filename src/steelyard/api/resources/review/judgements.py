"""Auto Judgment, and how far people and the judge of a queue agree."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.resources.review.agreement_bodies import AgreementBody, agreement_body
from steelyard.api.resources.run_changes import queued_run
from steelyard.api.result_notes import viewer_of
from steelyard.usecases.judges.judge_queue import JudgementRequest, start_judgement
from steelyard.usecases.review.queues.queue_agreement import queue_agreement


class NewJudgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a judge answers: the items of a queue, or all responses of a run."""

    run_id: str | None = None
    """The run; either it or a queue."""
    queue_id: str | None = None
    """The queue, of which only the items are judged."""
    rubric: str | None = None
    """The question rubric; by default that of the queue."""
    judge: str | None = None
    """The judge; by default the one that the project asks questions."""


class StartedJudgement(msgspec.Struct, frozen=True):
    """The run in which a judge answers."""

    run_id: str
    """The new run."""
    status: str
    """Its state when the request was accepted."""
    derived_from: str | None
    """The run whose stored traces are judged."""
    queue_id: str | None
    """The queue, where one was given."""


def _judge(call: Call[NoQuery, NewJudgement]) -> JsonReply:
    """The judge answers every objective question but those with `answeredByAuto: false`, about the
    stored traces; no target is called. Its answers are shown beside those of people once these
    have committed theirs. 409 if the run has not ended, or the rubric of the queue has changed."""
    body = call.body
    request = JudgementRequest(
        run_id=body.run_id, queue_id=body.queue_id, rubric=body.rubric, judge=body.judge
    )
    runs, queues = call.project.run_ports(), call.project.queue_ports()
    run = queued_run(lambda: start_judgement(runs, queues, request, caller=call.caller))
    derived = run.plan.options.derived if run.plan else None
    answer = StartedJudgement(
        run.run_id, run.status, derived.run_id if derived else None, body.queue_id
    )
    return JsonReply(body=answer, status=202)


def _agreement(call: Call[NoQuery, None]) -> JsonReply:
    """Each question with the agreement of people, and of the judge with those who answered blind;
    with intervals, confusion matrices, and the items behind each cell."""
    found = queue_agreement(call.project.queue_ports(), call.path["queue_id"], viewer_of(call))
    return JsonReply(body=agreement_body(found))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path="/v1/judgements",
        summary="Let a judge answer a question rubric about stored traces.",
        scope="runs:write",
        handle=_judge,
        body=NewJudgement,
        answers={202: StartedJudgement},
        errors=(409, 410),
    ),
    Operation(
        method="GET",
        path="/v1/agreement/{queue_id}",
        summary="Show how far people agree in a queue, and the judge with them.",
        scope="runs:read",
        handle=_agreement,
        answers={200: AgreementBody},
        errors=(404, 410),
    ),
)
