"""How far people agree with each other, and judges with people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec import field

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.question import Answer
from steelyard.model.question_types import QuestionType

Beside: TypeAlias = Literal["judge", "check", "verdict"]
"""What stands beside people: a check that asks judges, another one, or all checks together."""
PASSED = "passed"
"""The key and the type of the question that a plain pass or fail answers."""
Asked: TypeAlias = QuestionType | Literal["passed"]
"""The types that can be compared: those that are no free text, and the plain pass."""


def _no_numbers() -> Mapping[str, int]:
    return {}


@dataclass(frozen=True, slots=True, order=True)
class Item:
    """What one answer is about: a response, or one turn of it."""

    run_id: str
    """Empty where the labels are about no run."""
    record_id: str
    repeat: int = 0
    turn: int = 0
    """Counted from 1; 0 is the whole trace."""


class Estimate(FrozenStruct, frozen=True, kw_only=True):
    """A coefficient with its 95 % interval and the items that it rests on."""

    name: str
    value: float | None
    """None where it is undefined: nothing was compared, or all answers are the same."""
    low: float | None
    high: float | None
    method: str
    n: int


class OptionAgreement(FrozenStruct, frozen=True, kw_only=True):
    """One option of a question with several: chosen or not."""

    option: str
    estimates: tuple[Estimate, ...]
    left_out: Mapping[str, int] = field(default_factory=_no_numbers)
    """Items that were not compared as to this option, by reason."""


class Disagreement(FrozenStruct, frozen=True, kw_only=True):
    """An item of which not all say the same."""

    item: Item
    people: Mapping[str, Answer]
    """Who said what."""
    human: Answer | None = None
    """Beside a judge: what most people say, of scores the lower median."""
    judge: Answer | None = None


class Cell(FrozenStruct, frozen=True, kw_only=True):
    """How often people say one thing and the judge another, or the same."""

    human: Answer
    judge: Answer
    n: int
    items: tuple[Item, ...] = ()
    """What was answered so."""


class PairCell(FrozenStruct, frozen=True, kw_only=True):
    """How often two people give these two answers to the same question, in either order."""

    answers: tuple[Answer, Answer]
    n: int
    items: tuple[Item, ...] = ()


class AgreementSide(FrozenStruct, frozen=True, kw_only=True):
    """One comparison: of people with each other, or of a judge with them."""

    people: int
    items: int
    """Those that were compared."""
    answers: int
    """The labels of people behind them."""
    estimates: tuple[Estimate, ...]
    given: Mapping[str, int] = field(default_factory=_no_numbers)
    """How often people gave each answer: where nearly all are the same, κ says little."""
    options: tuple[OptionAgreement, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    cells: tuple[Cell, ...] = ()
    """Beside a judge: the confusion matrix, but of questions with several options."""
    pairs: tuple[PairCell, ...] = ()
    """Of people: the confusion matrix of all pairs, but of questions with several options."""
    left_out: Mapping[str, int] = field(default_factory=_no_numbers)
    """What was not compared, by reason: items, or labels where the reason says so."""


class AlternativeTest(FrozenStruct, frozen=True, kw_only=True):
    """Whether a judge may stand in for a person (the alternative annotator test)."""

    winning_rate: float
    """ω: the share of people against whom the judge holds its own."""
    advantage: float
    """ρ: how often the judge fits in at least as well as a person."""
    margin: float
    people: int
    items: int
    passed: bool


class GoldAgreement(FrozenStruct, frozen=True, kw_only=True):
    """What people and the judge had answered where an adjudicator has settled a question.

    Settled is what people disagreed about, so the counts say nothing about all items.
    """

    items: int
    answers: int
    """The answers of people about these items."""
    same: int
    """Those that the gold label confirms."""
    judged: int
    """The items that the judge answered as well."""
    judged_same: int
    differing: tuple[Item, ...] = ()
    """Where the judge says something else."""


class QuestionAgreement(FrozenStruct, frozen=True, kw_only=True):
    """One question."""

    key: str
    label: str
    type: Asked
    scope: Literal["trace", "turn"]
    people: AgreementSide | None
    """Those who answered blind; None where no two of them share an item."""
    seen: AgreementSide | None
    """Those who had seen what the judge or others say: not independent, and so shown apart."""
    judge: AgreementSide | None
    """The judge beside blind answers; None where no run is given or nothing can be compared."""
    beside: Beside = "judge"
    """What `judge` is: a check that asks no judge, or the verdict of all checks, is called so."""
    alternative: AlternativeTest | None = None
    no_alternative: str | None = None
    """Why the test was not made, where a judge stands beside people."""
    gold: GoldAgreement | None = None
    """None where no gold label answers the question."""


class RubricAgreement(FrozenStruct, frozen=True, kw_only=True):
    """All questions of a rubric, or the one plain pass."""

    rubric: str
    labels: int
    blind: int
    people: int
    questions: tuple[QuestionAgreement, ...]
    judged_by: tuple[str, ...] = ()
    """What people are compared with: checks by their ids, or `verdict`."""
    notes: tuple[str, ...] = ()
    """What was not looked at, and why."""


class Agreement(FrozenStruct, frozen=True, kw_only=True):
    """What the annotations of a project say, of a run or of all."""

    run_id: str | None
    rubrics: tuple[RubricAgreement, ...]
