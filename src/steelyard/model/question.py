"""A rubric of questions, which people and judges answer alike, and the answers to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import field

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, no_extra
from steelyard.model.question_types import QUESTION_TYPES, QuestionType, TypeOfQuestion
from steelyard.model.reference import Reference

Scope: TypeAlias = Literal["trace", "turn"]
RubricStatus: TypeAlias = Literal["draft", "published", "archived"]
Answer: TypeAlias = int | str | tuple[str, ...]
"""A score or 1 and 0, an option or a comment, or the options of a multi_select."""
AnswerSet: TypeAlias = Mapping[str, Answer]


class Scale(FrozenStruct, frozen=True, kw_only=True):
    """The integers that a score may be: from `min` to `max` in steps."""

    min: int
    max: int
    step: int = 1
    extra: Extra = field(default_factory=no_extra)

    @property
    def values(self) -> range:
        """Every score there is, in order."""
        return range(self.min, self.max + 1, self.step)

    def __str__(self) -> str:
        """The form for people: `0-5`, `0-10 in steps of 2`."""
        span = f"{self.min}-{self.max}"
        return span if self.step == 1 else f"{span} in steps of {self.step}"


class Option(FrozenStruct, frozen=True, kw_only=True):
    """One of the answers to choose from: what is stored, and what people see."""

    value: str
    label: str
    extra: Extra = field(default_factory=no_extra)


class Question(FrozenStruct, frozen=True, kw_only=True):
    """One thing that is asked about a trace, or about each of its turns."""

    key: str
    label: str
    type: QuestionType
    scope: Scope = "trace"
    required: bool = False
    guidance: str | None = None
    answered_by_auto: bool
    """Whether judges answer it; never true of a comment."""
    scale: Scale | None = None
    """Of a score: its own scale or else the rubric's."""
    options: tuple[Option, ...] = ()
    extra: Extra = field(default_factory=no_extra)

    @property
    def kind(self) -> TypeOfQuestion:
        """What its type says."""
        return QUESTION_TYPES[self.type]

    @property
    def answer_scale(self) -> Scale:
        """The scale of a question that needs one."""
        assert self.scale
        return self.scale


def _no_weights() -> Mapping[str, float]:
    return {}


def _no_options() -> Mapping[str, Mapping[str, float]]:
    return {}


class QuestionScoring(FrozenStruct, frozen=True, kw_only=True):
    """How answers become a score, where a rubric says more than its questions do."""

    questions: Mapping[str, float] = field(default_factory=_no_weights)
    """The weight of each question that counts; none means that every one with a value counts once.

    A negative weight turns a question round: its lowest value is the best.
    """
    options: Mapping[str, Mapping[str, float]] = field(default_factory=_no_options)
    """Of a question with one answer among options, what each is worth from 0 to 1."""
    pass_threshold: float | None = None


class QuestionRubric(FrozenStruct, frozen=True, kw_only=True):
    """Questions with a name for people and a version that is their identity."""

    name: str
    version: str
    questions: tuple[Question, ...]
    status: RubricStatus = "draft"
    scale: Scale | None = None
    guidance: tuple[str, ...] = ()
    scoring: QuestionScoring | None = None
    sha256: str | None = None
    """The hash of its content, however the file is laid out; None for a rubric made in code."""
    grading_sha256: str | None = None
    """The hash of the part on which scores depend."""
    extra: Extra = field(default_factory=no_extra)

    @property
    def reference(self) -> Reference:
        """What refers to it; its version is its id, so that it is pinned without an `@`."""
        return Reference(kind="rubric", id=self.version)

    def asked(self, scope: Scope) -> dict[str, Question]:
        """The questions about the trace or about its turns, by key."""
        return {question.key: question for question in self.questions if question.scope == scope}


class Answers(FrozenStruct, frozen=True, kw_only=True):
    """What a rubric's questions were answered with; turns by number, from 1."""

    trace: AnswerSet = field(default_factory=dict[str, Answer])
    turns: Mapping[int, AnswerSet] = field(default_factory=dict[int, AnswerSet])
