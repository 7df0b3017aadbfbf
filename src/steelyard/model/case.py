"""One thing to evaluate, whichever contract it was read from."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.frozen_struct import FrozenStruct, SourcedStruct
from steelyard.model.json_value import Extra, no_extra
from steelyard.model.message import Message


class Attachment(FrozenStruct, frozen=True, kw_only=True):
    """A file beside the dataset, such as a PDF, with an optional kind and title."""

    path: str
    kind: str | None = None
    title: str | None = None
    text: str | None = None
    """What the document says; None where it is kept by its path alone, or is not there."""
    extra: Extra = field(default_factory=no_extra)


class Criterion(FrozenStruct, frozen=True, kw_only=True):
    """One point that an answer meets or does not; a negative weight takes points away."""

    id: str
    title: str
    description: str = ""
    weight: float = 1.0
    extra: Extra = field(default_factory=no_extra)


class AnswerChoice(FrozenStruct, frozen=True):
    """One of the answers to choose from."""

    id: str
    text: str
    extra: Extra = field(default_factory=no_extra)


class Place(FrozenStruct, frozen=True, kw_only=True):
    """Where a case was read: file, physical line (1-based) and position among its siblings."""

    file: str | None = None
    line: int | None = None
    index: int | None = None
    path: tuple[str | int, ...] = ()
    """The path of its row, in a file that is one document."""


class Case(SourcedStruct, frozen=True, kw_only=True):
    """What to ask, what a good answer is, and how to grade it.

    The fields are the common part of the five contracts. What a contract carries beyond
    them is kept in `extra` under the contract's own names and written back from there.
    Where a case was read is no part of what it is: `place` counts neither for equality
    nor in the repr.
    """

    source_field: ClassVar[str] = "place"

    id: str
    dataset: str = ""
    input_messages: tuple[Message, ...] = ()
    expected_messages: tuple[Message, ...] = ()
    reference_answers: tuple[str, ...] = ()
    """Texts any of which would be a good answer."""
    expected_outcome: str = ""
    """What a good answer achieves, in words."""
    conversation_id: str | None = None
    context: str = ""
    attachments: tuple[Attachment, ...] = ()
    task_type: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Extra = field(default_factory=no_extra)
    expected: Extra = field(default_factory=no_extra)
    """Demands on the answer beside its text, such as `max_latency_ms`."""
    target: str | None = None
    evaluator: str | None = None
    evaluators: tuple[Evaluator, ...] = ()
    rubrics: tuple[RubricItem, ...] = ()
    choices: tuple[AnswerChoice, ...] = ()
    correct_choice_ids: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    """The case's own criteria rubric."""
    rubric_ref: str | None = None
    """The rubric that grades this case, such as `rubric/basic@1.2`."""
    bundle: str | None = None
    """The domain that the case belongs to and whose fields it may carry."""
    guideline_paths: tuple[str, ...] = ()
    file_paths: tuple[str, ...] = ()
    extra: Extra = field(default_factory=no_extra)
    place: Place = Place()

    @property
    def answers(self) -> tuple[str, ...]:
        """The reference answers, or the text of the last expected message where there are none."""
        if self.reference_answers or not self.expected_messages:
            return self.reference_answers
        text = self.expected_messages[-1].text
        return (text,) if text else ()
