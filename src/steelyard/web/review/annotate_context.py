"""What the annotation page shows: nothing of how items were drawn or of what others said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import msgspec

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.label import Exposure
from steelyard.model.labels.queue import FlagKind, OwnProgress, ReviewQueue
from steelyard.reports.question_form import QuestionForm, question_form
from steelyard.reports.record.record_view import Expectation
from steelyard.reports.record.trace_view import TraceView
from steelyard.reports.review_keys import KEYS, ReviewKey, key_rows
from steelyard.web.page import Context
from steelyard.web.review.item_list import FILTERS, ItemAddress, ItemList

Mode: TypeAlias = Literal["answer", "submitted", "skipped", "taken", "empty"]
"""An item to answer, one that is done, one that others answer, or no item at all."""
FLAGS: Mapping[FlagKind, str] = {
    "guideline_gap": "The guidelines do not say what to answer",
    "bad_item": "The item is broken or does not belong here",
    "note": "Something else",
}
SKIPS = (
    "I am not sure of the rule",
    "I do not know the subject well enough",
    "The trace cannot be read",
)


class AnnotateQuery(msgspec.Struct, frozen=True):
    """What the address of the annotation page says."""

    item: str | None = None
    view: str = ""
    """`raw` for texts as they are."""
    state: str = ""
    q: str = ""
    done: str | None = None
    """The item that was finished just before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedQueue:
    """What annotators may know of a queue."""

    queue_id: str
    name: str
    rubric: str
    instructions: str | None
    is_open: bool
    is_revealed: bool
    """Whether others' answers show after one's own are submitted."""
    form: QuestionForm

    @property
    def rubric_name(self) -> str:
        """The rubric without its kind."""
        return self.rubric.removeprefix("rubric/")


def queue_view(queue: ReviewQueue) -> AnnotatedQueue:
    """A queue without its design."""
    form = question_form(queue.rubric_row, most=None)
    assert form
    return AnnotatedQueue(
        queue_id=queue.queue_id,
        name=queue.name,
        rubric=queue.rubric,
        instructions=queue.instructions,
        is_open=queue.status == "open",
        is_revealed=queue.reveal == "after_commit",
        form=form,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneItem:
    """What was finished just before, and can be taken back."""

    item_id: str
    name: str
    state: str
    href: str


@dataclass(frozen=True, slots=True)
class RevealedAnswer:
    """One answer of somebody else, as words."""

    who: str
    text: str
    reasoning: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItem:
    """One item with the answers of whoever opened it."""

    item_id: str
    name: str
    trace: TraceView
    expected: Sequence[Expectation] = ()
    trace_answers: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    turn_answers: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    token: str = ""
    exposure: Exposure = "blind"
    """How an answer that is submitted now would be kept."""
    revision: int = 0
    reason: str | None = None
    """Why it was skipped."""
    flags: Sequence[str] = ()

    def given(self, scope: str, key: str) -> JsonValue:
        """The stored answer to a question."""
        sheet = self.trace_answers if scope == "trace" else self.turn_answers.get(scope, {})
        return sheet.get(key)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateContext(Context):
    """The annotation page."""

    template: ClassVar[str] = "review_item.html"
    mode: Mode
    queue: AnnotatedQueue
    who: str
    has_login: bool
    progress: OwnProgress
    items: ItemList
    address: ItemAddress
    item: ShownItem | None = None
    place: int = 0
    """The position of the item in the queue, from 1."""
    done: DoneItem | None = None
    is_raw: bool = False
    is_list_hidden: bool = False
    """Whether the list of items was folded away on an earlier page."""
    problem: str = ""
    findings: Sequence[tuple[str, str]] = ()
    """What keeps the answers from being submitted: a path and a message each."""
    revealed: Mapping[str, Sequence[RevealedAnswer]] = field(
        default_factory=dict[str, Sequence[RevealedAnswer]]
    )
    """What others answered, by field, after one's own answers are submitted."""
    can_undo: bool = False

    @property
    def form(self) -> QuestionForm:
        """The questions."""
        return self.queue.form

    @property
    def keys(self) -> tuple[ReviewKey, ...]:
        """The keys of the page."""
        return KEYS

    @property
    def key_rows(self) -> list[JsonValue]:
        """The keys as the script reads them."""
        return key_rows()

    @property
    def flag_kinds(self) -> Mapping[FlagKind, str]:
        """What an item can be flagged as."""
        return FLAGS

    @property
    def item_filters(self) -> Mapping[str, str]:
        """What the list of items can be narrowed to."""
        return FILTERS

    @property
    def skip_reasons(self) -> tuple[str, ...]:
        """Reasons that are often given."""
        return SKIPS
