"""What the API says about agreement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from steelyard.model.statistics.agreement import (
    AgreementSide,
    AlternativeTest,
    Asked,
    Beside,
    Estimate,
    GoldAgreement,
    Item,
    OptionAgreement,
    QuestionAgreement,
)
from steelyard.usecases.review.queues.queue_agreement import QueueAgreement


class BehindBody(msgspec.Struct, frozen=True):
    """An item, or one turn of it."""

    item_id: str | None
    """The item of the queue."""
    turn: int
    """The turn; 0 is the whole trace."""


class CellBody(msgspec.Struct, frozen=True):
    """A cell of a confusion matrix."""

    answers: list[Any]
    """What people say and what the judge says; between people, the answers of two of them."""
    n: int
    """How often."""
    items: list[BehindBody]
    """The items behind the number."""


class DisagreementBody(msgspec.Struct, frozen=True):
    """An item that was answered differently."""

    item_id: str | None
    """The item of the queue."""
    turn: int
    """The turn; 0 is the whole trace."""
    people: dict[str, Any]
    """Who answered what."""
    human: Any
    """Beside a judge: what most people say, of scores the lower median."""
    judge: Any
    """What the judge says."""


class SideBody(msgspec.Struct, frozen=True):
    """People with each other, or the judge with them."""

    people: int
    """The number of people."""
    items: int
    """Items, or turns, that were compared."""
    answers: int
    """The answers of people behind them."""
    estimates: list[Estimate]
    """Coefficients with 95 % intervals."""
    given: dict[str, int]
    """How often people gave each answer."""
    options: list[OptionAgreement]
    """Each option of a question with several."""
    cells: list[CellBody]
    """The confusion matrix."""
    disagreements: list[DisagreementBody]
    """What was answered differently."""
    left_out: dict[str, int]
    """What was not compared, by reason."""


class GoldAgreementBody(msgspec.Struct, frozen=True):
    """What had been answered where an adjudicator has settled a question."""

    items: int
    """Items, or turns, with a gold label."""
    answers: int
    """The answers of people about them."""
    same: int
    """Those that the gold labels confirm."""
    judged: int
    """The items that the judge answered as well."""
    judged_same: int
    """Those of them where it says what the gold label says."""
    differing: list[BehindBody]
    """Where the judge says something else."""


class QuestionAgreementBody(msgspec.Struct, frozen=True):
    """One question."""

    key: str
    """The question."""
    label: str
    """Its text."""
    type: Asked
    """Its type."""
    scope: Literal["trace", "turn"]
    """Whether it is asked about the whole trace or about each turn."""
    people: SideBody | None
    """Those who answered blind; null where no two of them share an item."""
    seen: SideBody | None
    """Those who had seen the answers of others."""
    judge: SideBody | None
    """The judge beside those who answered blind; null where nothing can be compared."""
    beside: Beside
    """What `judge` is."""
    alternative: AlternativeTest | None
    """Whether the judge may stand in for a person."""
    no_alternative: str | None
    """Why that was not tested."""
    gold: GoldAgreementBody | None
    """What gold labels say; null where there is none."""


class AgreementBody(msgspec.Struct, frozen=True):
    """The agreement in a queue."""

    queue_id: str
    """The queue."""
    rubric: str
    """The rubric that was answered."""
    judged_in: str | None
    """The run whose judge is compared with people; null where no judge has answered."""
    judged_by: list[str]
    """The check, and the judge that it asks."""
    labels: int
    """Submitted annotations."""
    blind: int
    """Those that were given blind."""
    people: int
    """The number of people."""
    questions: list[QuestionAgreementBody]
    """Every question that can be compared."""
    notes: list[str]
    """What was not looked at, and why."""


def agreement_body(found: QueueAgreement) -> AgreementBody:
    """The agreement in a queue."""
    return AgreementBody(
        queue_id=found.queue.queue_id,
        rubric=found.queue.rubric,
        judged_in=found.judged_in,
        judged_by=list(found.judged_by),
        labels=found.labels,
        blind=found.blind,
        people=found.people,
        questions=[_question(found, one) for one in found.questions],
        notes=list(found.notes),
    )


def _question(found: QueueAgreement, one: QuestionAgreement) -> QuestionAgreementBody:
    return QuestionAgreementBody(
        key=one.key,
        label=one.label,
        type=one.type,
        scope=one.scope,
        people=_side(found, one.people),
        seen=_side(found, one.seen),
        judge=_side(found, one.judge),
        beside=one.beside,
        alternative=one.alternative,
        no_alternative=one.no_alternative,
        gold=_gold(found, one.gold),
    )


def _gold(found: QueueAgreement, gold: GoldAgreement | None) -> GoldAgreementBody | None:
    if gold is None:
        return None
    return GoldAgreementBody(
        items=gold.items,
        answers=gold.answers,
        same=gold.same,
        judged=gold.judged,
        judged_same=gold.judged_same,
        differing=_behind(found, gold.differing),
    )


def _side(found: QueueAgreement, side: AgreementSide | None) -> SideBody | None:
    if side is None:
        return None
    beside = [
        CellBody([one.human, one.judge], one.n, _behind(found, one.items)) for one in side.cells
    ]
    between = [CellBody(list(one.answers), one.n, _behind(found, one.items)) for one in side.pairs]
    return SideBody(
        people=side.people,
        items=side.items,
        answers=side.answers,
        estimates=list(side.estimates),
        given=dict(side.given),
        options=list(side.options),
        cells=[*beside, *between],
        disagreements=[
            DisagreementBody(
                found.item_id(one.item), one.item.turn, dict(one.people), one.human, one.judge
            )
            for one in side.disagreements
        ],
        left_out=dict(side.left_out),
    )


def _behind(found: QueueAgreement, items: Iterable[Item]) -> list[BehindBody]:
    return [BehindBody(found.item_id(one), one.turn) for one in items]
