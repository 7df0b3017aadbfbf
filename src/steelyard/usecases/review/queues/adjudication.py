"""Settle disagreements: the least agreed items first, names hidden, one gold label for each."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from steelyard.contracts.question_rubric.answers import answers_row
from steelyard.errors import ConflictError, InvalidError
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.label import Label
from steelyard.model.labels.queue import GoldLabel, ReviewItem, ReviewQueue
from steelyard.model.question import Answers, QuestionRubric
from steelyard.review.disagreement import QuestionPlace, SharedAnswers, disputed, item_agreement
from steelyard.usecases.review.import_labels import kept_row
from steelyard.usecases.review.queues.annotating import MAX_TEXT
from steelyard.usecases.review.queues.exposure import note_results_seen
from steelyard.usecases.review.queues.ports import QueuePorts, ShownTrace
from steelyard.usecases.review.queues.queue_labels import labels_by_item
from steelyard.usecases.review.queues.queue_rubric import checked_answers, rubric_of


@dataclass(frozen=True, slots=True, kw_only=True)
class AnonymousAnswers:
    """The answers of one person under a letter that stands for them in one item only."""

    name: str
    answers: Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedItem:
    """An item that people answered differently."""

    item: ReviewItem
    agreement: SharedAnswers
    questions: tuple[QuestionPlace, ...]
    """The questions that were answered differently."""
    given: tuple[AnonymousAnswers, ...]
    gold: GoldLabel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldDecision:
    """What an adjudicator decides."""

    answers: JsonValue
    revision: int = 0
    """The revision of the gold label that this one replaces; 0 if there is none."""
    note: str | None = None


def list_disagreements(
    ports: QueuePorts, queue_id: str, person: str, *, with_settled: bool = False
) -> list[DisputedItem]:
    """Disputed items without a gold label, the least agreed first.

    Whoever looks at them is no longer blind about these items.
    """
    queue = ports.queues.find(queue_id)
    items = {one.item_id: one for one in ports.queues.items(queue_id)}
    labels = labels_by_item(ports, queue, list(items.values()))
    gold = ports.decisions.gold(queue_id)
    rubric = rubric_of(queue)
    found = [
        _disputed(rubric, items[item_id], given, gold.get(item_id))
        for item_id, given in labels.items()
        if with_settled or item_id not in gold
    ]
    shown = sorted(
        (one for one in found if one.questions),
        key=lambda one: (one.agreement.rate or 0.0, one.item.place),
    )
    indices = [one.item.index for one in shown]
    note_results_seen(ports, ports.source(queue.source), person, indices)
    return shown


def show_disputed(
    ports: QueuePorts, item_id: str, person: str
) -> tuple[ReviewQueue, DisputedItem, ShownTrace]:
    """One item with its trace, for an adjudicator."""
    item = ports.queues.item(item_id)
    queue = ports.queues.find(item.queue_id)
    given = labels_by_item(ports, queue, [item]).get(item_id, [])
    gold = ports.decisions.gold(queue.queue_id).get(item_id)
    source = ports.source(queue.source)
    note_results_seen(ports, source, person, [item.index])
    disputed_item = _disputed(rubric_of(queue), item, given, gold)
    return queue, disputed_item, source.show(item.index, item.repeat)


def adjudicate(
    ports: QueuePorts, item_id: str, decision: GoldDecision, *, caller: Caller | None = None
) -> GoldLabel:
    """Keep a gold label with the answers that it was decided from."""
    ports = ports.called_by(caller)
    item = ports.queues.item(item_id)
    queue = ports.queues.find(item.queue_id)
    labels = labels_by_item(ports, queue, [item]).get(item_id, [])
    if not labels:
        raise ConflictError(f"nobody has answered {item_id} yet")
    known = ports.decisions.gold(queue.queue_id).get(item_id)
    number = known.revision if known else 0
    if decision.revision != number:
        raise ConflictError(
            f"the gold label of {item_id} has revision {number}, not {decision.revision}"
        )
    if decision.note is not None and len(decision.note) > MAX_TEXT:
        raise InvalidError(f"`note` has at most {MAX_TEXT:,} characters")
    source = ports.source(queue.source)
    turns = source.show(item.index, item.repeat).turns
    answers = checked_answers(rubric_of(queue), decision.answers, turns, is_complete=True)
    note_results_seen(ports, source, ports.caller.actor, [item.index])
    gold = GoldLabel(
        item_id=item_id,
        revision=number + 1,
        answers=_redacted(ports, queue, item, answers),
        decided_by=ports.caller.actor,
        decided_at=ports.clock.stamp(),
        note=None if decision.note is None else ports.review.redactor().text(decision.note),
        provenance={"from": [_provenance(label) for label in labels]},
    )
    entry = ports.entry("adjudicate_item", item_id, queue=queue.queue_id, revision=gold.revision)
    ports.decisions.add_gold(queue.queue_id, gold, entry)
    return gold


def _disputed(
    rubric: QuestionRubric, item: ReviewItem, labels: Sequence[Label], gold: GoldLabel | None
) -> DisputedItem:
    given = _anonymous(item, labels)
    answers = [one.answers for one in given]
    return DisputedItem(
        item=item,
        agreement=item_agreement(rubric, answers),
        questions=disputed(rubric, answers),
        given=given,
        gold=gold,
    )


def _anonymous(item: ReviewItem, labels: Sequence[Label]) -> tuple[AnonymousAnswers, ...]:
    """Letters in an order that says nothing about who is who, and differs from item to item."""

    def mixed(label: Label) -> str:
        return hashlib.sha256(f"{item.item_id} {label.annotator}".encode()).hexdigest()

    given = [label for label in sorted(labels, key=mixed) if label.answers is not None]
    return tuple(
        AnonymousAnswers(name=chr(ord("A") + number), answers=label.answers or Answers())
        for number, label in enumerate(given)
    )


def _provenance(label: Label) -> JsonObject:
    return {
        "annotator": label.annotator,
        "exposure": label.exposure,
        "answers": answers_row(label.answers or Answers()),
    }


def _redacted(
    ports: QueuePorts, queue: ReviewQueue, item: ReviewItem, answers: Answers
) -> JsonObject:
    label = Label(
        record_id=item.record_id,
        rubric=queue.rubric,
        annotator="adjudicator",
        exposure="after_commit",
        answers=answers,
    )
    return cast(JsonObject, kept_row(label, ports.review.redactor())["answers"])
