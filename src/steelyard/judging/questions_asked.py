"""What is asked of a judge in one call, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, JsonObject, no_extra
from steelyard.model.judge import Judge

FieldKind: TypeAlias = Literal["one", "many", "number", "text"]
Choice: TypeAlias = int | float | str
Value: TypeAlias = int | float | str | tuple[str, ...]
Rung: TypeAlias = Literal["native", "stripped", "repaired", "coerced", "asked_again", "unscored"]
"""How far down the ladder an answer was found; every rung includes the ones before it."""

CANNOT_JUDGE = "cannot_judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerField:
    """One value that a judge owes, beside the evidence and the reasoning for it."""

    key: str
    kind: FieldKind = "one"
    values: tuple[Choice, ...] = ()
    """Of `one` and `many`: what may be answered, from worst to best where there is an order."""
    span: tuple[float, float] | None = None
    """Of `number`: the least and the most."""
    ends: tuple[str, str] | None = None
    """Of `number`: what the least and the most mean, where the scale has a direction."""
    step: float = 1
    """Of `number`: how far its values are apart. Off the steps an integer scale takes nothing;
    on any other scale steps are only what is offered."""
    labels: Mapping[Choice, str] = field(default_factory=dict[Choice, str], hash=False)
    """What a value means in words; a judge may answer with them where they are unique."""
    question: str = ""
    """What is asked; where a call has several fields, each of them is listed with it."""
    is_ordered: bool = False
    """Whether the values are a scale: then they are shown upwards or downwards, else shuffled."""
    is_fixed: bool = False
    """Whether the values are always shown in their own order."""


class Example(FrozenStruct, frozen=True, kw_only=True):
    """An answer with its judgement that is shown to the judge; its id is part of who judges."""

    id: str
    text: str


class AskedQuestion(FrozenStruct, frozen=True, kw_only=True):
    """One call to a judge, before nonces and orders are drawn."""

    judge: Judge
    fields: tuple[AnswerField, ...]
    """One; several where questions are grouped to save calls."""
    material: Extra = msgspec.field(default_factory=no_extra)
    """Template variables from trace and case: they stand between delimiters, as data."""
    instructions: Extra = msgspec.field(default_factory=no_extra)
    """Template variables from whoever wrote the rubric: `question`, `rubric`, `criteria`."""
    quotable: str = ""
    """The text that evidence is looked for in."""
    examples: tuple[Example, ...] = ()
    item: str | None = None
    """The key of the question, or the id of the criterion."""
    turn: int | None = None
    sample: int = 0
    target: str | None = None
    wants_logprobs: bool = False


class FieldAnswer(FrozenStruct, frozen=True, kw_only=True):
    """What a judge said about one field; or why it said nothing that counts."""

    key: str
    value: Value | None = None
    """None when it is unscored."""
    evidence: str = ""
    reasoning: str = ""
    evidence_found: bool | None = None
    """Whether the quote is in the text it should be from; None when nothing was quoted."""
    rung: Rung = "native"
    reason: str | None = None
    """Why there is no value: `cannot_judge`, `refusal`, `truncated`, `empty`, `unusable`, or the
    code of the call's error."""
    message: str = ""
    """The same for people."""
    probabilities: Mapping[Choice, float] = msgspec.field(default_factory=dict[Choice, float])
    """The probability of each value, if the endpoint returns it; they add up to 1."""

    @property
    def is_scored(self) -> bool:
        """Whether there is a value."""
        return self.value is not None


class Answered(FrozenStruct, frozen=True, kw_only=True):
    """The answers of one call, and what names and dates the instrument that gave them."""

    asked: AskedQuestion
    answers: Mapping[str, FieldAnswer]
    """By the key of the field, every field of the call."""
    rung: Rung
    """The lowest that any answer needed."""
    seed: int
    """The order in which options were shown."""
    fingerprint: str | None = None
    """None when no reply came."""
    target: str | None = None
    model: str | None = None
    is_enforced: bool = False
    cost_usd: float | None = None

    @property
    def only(self) -> FieldAnswer:
        """The answer of a call with one field."""
        return self.answers[self.asked.fields[0].key]

    def details(self, key: str | None = None) -> JsonObject:
        """What a check's details say of this call, and of one field of it."""
        answer = self.only if key is None else self.answers[key]
        row: JsonObject = {
            "judge": self.asked.judge.name,
            "target": self.target,
            "model": self.model,
            "fingerprint": self.fingerprint,
            "is_enforced": self.is_enforced,
            "rung": answer.rung,
            "seed": self.seed,
            "item": self.asked.item,
            "turn": self.asked.turn,
            "sample": self.asked.sample,
            "value": list(answer.value) if isinstance(answer.value, tuple) else answer.value,
            "evidence": answer.evidence,
            "evidence_found": answer.evidence_found,
            "reasoning": answer.reasoning,
            "reason": answer.reason,
            "message": answer.message or None,
        }
        return {name: value for name, value in row.items() if value is not None}


def examples_of(judge: Judge) -> tuple[Example, ...]:
    """Those of its file, in order."""
    rows = judge.extra.get("examples")
    if not isinstance(rows, list):
        return ()
    return tuple(
        Example(id=str(row["id"]), text=str(row["text"])) for row in rows if isinstance(row, dict)
    )
