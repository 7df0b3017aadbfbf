"""How far people agree on the items of a queue, and the judge with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from steelyard.errors import NotFoundError, RequestError, RunError
from steelyard.model.labels.queue import ReviewItem, ReviewQueue
from steelyard.model.statistics.agreement import Item, QuestionAgreement, RubricAgreement
from steelyard.usecases.review.agreement import QueueScope, agreement
from steelyard.usecases.review.queues.exposure import note_results_seen
from steelyard.usecases.review.queues.ports import QueuePorts
from steelyard.usecases.review.queues.queue_labels import PinnedRubric, SubmittedLabels
from steelyard.usecases.review.queues.queue_rubric import rubric_of


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAgreement:
    """The questions of a queue, each with what can be said about it so far."""

    queue: ReviewQueue
    judged_in: str | None
    """The run whose judge is compared with people; None if no judge has answered."""
    judged_by: tuple[str, ...]
    labels: int
    blind: int
    people: int
    questions: tuple[QuestionAgreement, ...]
    notes: tuple[str, ...]
    items: Mapping[tuple[str, int], ReviewItem]
    """The items of the queue by record and repeat."""

    def item(self, item: Item) -> ReviewItem | None:
        """The item of the queue that an answer is about."""
        return self.items.get((item.record_id, item.repeat))

    def item_id(self, item: Item) -> str | None:
        """Its id."""
        found = self.item(item)
        return found and found.item_id


def queue_agreement(ports: QueuePorts, queue_id: str, person: str) -> QueueAgreement:
    """People with each other, and the newest judgement of the queue with people.

    Whoever looks at this has seen the answers of the judge and of everybody, if there are any
    labels: before the first one nothing of them is shown.
    """
    queue = ports.queues.find(queue_id)
    items = ports.queues.items(queue_id)
    rubric = rubric_of(queue)
    settled = ports.decisions.gold(queue_id)
    work = QueueScope(
        has=SubmittedLabels(ports, queue, items).has,
        rubrics=PinnedRubric(ports.review.references, queue),
        gold={
            (one.record_id, one.repeat): settled[one.item_id].answers
            for one in items
            if one.item_id in settled
        },
    )
    judged_in, found = _found(ports, queue, work)
    if found:
        note_results_seen(ports, ports.source(queue.source), person, [one.index for one in items])
    known = {one.key: one for one in found.questions} if found else {}
    asked = [one for one in rubric.questions if not one.kind.is_free_text]
    return QueueAgreement(
        queue=queue,
        judged_in=judged_in if found and found.judged_by else None,
        judged_by=found.judged_by if found else (),
        labels=found.labels if found else 0,
        blind=found.blind if found else 0,
        people=found.people if found else 0,
        questions=tuple(
            known.get(one.key)
            or QuestionAgreement(
                key=one.key,
                label=one.label,
                type=one.type,
                scope=one.scope,
                people=None,
                seen=None,
                judge=None,
            )
            for one in asked
        ),
        notes=(*found.notes, *_not_blind(found)) if found else (),
        items={(one.record_id, one.repeat): one for one in items},
    )


def _not_blind(found: RubricAgreement) -> Iterator[str]:
    seen = found.labels - found.blind
    if seen:
        is_one = seen == 1
        yield (
            f"{seen} {'label was' if is_one else 'labels were'} not given blind: results of "
            f"{'that record' if is_one else 'those records'} had been opened before; "
            f"{'it does' if is_one else 'they do'} not measure the judge"
        )


def _found(
    ports: QueuePorts, queue: ReviewQueue, work: QueueScope
) -> tuple[str, RubricAgreement | None]:
    """The newest run whose judge answers the rubric of the queue, compared with people."""
    last: tuple[str, RubricAgreement | None] = (queue.source.id, None)
    for run_id in _runs(queue):
        try:
            found = agreement(ports.review, run=run_id, rubric=queue.rubric, queue=work)
        except NotFoundError:
            continue  # nobody has answered yet, or the run is gone
        except (RequestError, RunError):
            continue  # the run has not ended, or its files have changed
        last = run_id, found.rubrics[0]
        if found.rubrics[0].judged_by:
            break
    return last


def _runs(queue: ReviewQueue) -> Iterator[str]:
    yield from reversed(queue.judged_by)
    yield queue.source.id
