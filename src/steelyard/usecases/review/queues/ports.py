"""The ports of review queues."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from steelyard.model.audit import AuditEntry
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.assignment import Assignment, AssignmentChoice, Picked
from steelyard.model.labels.queue import (
    AnnotatorProgress,
    Draft,
    Flag,
    GoldLabel,
    ItemClaim,
    ListedItem,
    OwnProgress,
    QueueCounts,
    QueueSource,
    QueueStatus,
    ReviewItem,
    ReviewQueue,
    SlotHolder,
)
from steelyard.model.question import QuestionRubric
from steelyard.ports import CallerPorts
from steelyard.usecases.review.ports import ReviewPorts


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTrace:
    """One response as people read it before they answer: without any verdict."""

    request: JsonObject | None
    """The messages that were sent."""
    trace: JsonObject
    expected: JsonValue
    turns: int
    """The number of assistant turns in the trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """What a judge answered about one response."""

    run_id: str
    check: str
    judge: str | None
    answers: JsonObject
    reason: str | None
    details: JsonObject
    """Evidence and reasoning by question, as the run has kept them."""


class ResponseContent(NamedTuple):
    """What a person reads: a record with the response to it, whichever run has it."""

    record_id: str | None
    record_sha256: str | None
    messages: JsonValue


class TraceSource(Protocol):
    """The responses of a queue, wherever they come from."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids under which results of these responses can be opened; its own first."""
        ...

    def default_rubric(self) -> str | None:
        """The reference of the one rubric that graded all of them; None if there is none."""
        ...

    def draw(self, rubric: str, choice: AssignmentChoice, slice_name: str | None) -> Assignment:
        """A sample of the responses with inclusion probabilities."""
        ...

    def pick(self, places: Sequence[tuple[int, int]]) -> Picked:
        """Given responses, by index and repeat."""
        ...

    def show(self, index: int, repeat: int) -> ShownTrace:
        """One response without its results."""
        ...

    def content(self, index: int, repeat: int) -> ResponseContent:
        """What makes a response the same as one of another run."""
        ...

    def holding(self, content: ResponseContent, index: int) -> Sequence[int]:
        """The indices of records with the same content; `index` is tried if it has no id."""
        ...

    def named(self, record: str) -> Sequence[int]:
        """The indices of records with an id, else of the one with this index."""
        ...

    def judged(self, rubric: QuestionRubric, index: int, repeat: int) -> Sequence[JudgedItem]:
        """What judges answered about one response with a question rubric."""
        ...


class Queues(Protocol):
    """The review queues of a project."""

    def create(
        self, queue: ReviewQueue, drawn: Sequence[ReviewItem], entry: AuditEntry
    ) -> None: ...
    def add(
        self, queue: ReviewQueue, more: Sequence[ReviewItem], entry: AuditEntry
    ) -> Sequence[ReviewItem]:
        """Add items that a queue does not have yet after its last one; those that were added."""
        ...

    def all(self) -> list[ReviewQueue]: ...
    def find(self, queue_id: str) -> ReviewQueue: ...
    def item(self, item_id: str) -> ReviewItem: ...
    def items(self, queue_id: str) -> list[ReviewItem]: ...
    def require_reviews(self, queue_id: str, reviews: int, entry: AuditEntry) -> None:
        """Ask more people about every item; fewer than before cannot be asked."""
        ...

    def ask_one_more(
        self, queue_id: str, item_ids: Collection[str], entry: AuditEntry
    ) -> Sequence[str]:
        """Let one more person answer those of some items that nobody else could claim."""
        ...

    def set_status(self, queue_id: str, status: QueueStatus, entry: AuditEntry) -> None: ...
    def add_judgement(self, queue_id: str, run_id: str, entry: AuditEntry) -> None: ...


class Assignments(Protocol):
    """Items in the hands of people; a write without the current token is a ConflictError."""

    def claim(
        self, queue_id: str, annotator: str, at: str, *, item_id: str | None = None
    ) -> ItemClaim | None: ...
    def holder(self, item_id: str, token: str) -> SlotHolder: ...
    def save(
        self, item_id: str, token: str, revision: int, answers: JsonObject, at: str
    ) -> int: ...
    def submit(
        self, item_id: str, token: str, revision: int, label: JsonObject, entry: AuditEntry
    ) -> int: ...
    def skip(self, item_id: str, token: str, reason: str, entry: AuditEntry) -> None: ...
    def defer(self, item_id: str, token: str, at: str) -> None: ...
    def undo(self, item_id: str, annotator: str, entry: AuditEntry) -> ItemClaim: ...
    def reassign(
        self, item_id: str, from_person: str, to_person: str | None, entry: AuditEntry
    ) -> None: ...
    def draft(self, item_id: str, annotator: str) -> Draft | None: ...


class QueueWork(Protocol):
    """What people have done in a queue."""

    def items(self, queue_id: str, annotator: str) -> list[ListedItem]: ...
    def own(self, queue_id: str, annotator: str) -> OwnProgress: ...
    def people(self, queue_id: str) -> list[AnnotatorProgress]: ...
    def drafts(self, queue_id: str, annotator: str | None = None) -> list[Draft]: ...
    def annotators(self) -> Sequence[str]:
        """Everybody who has claimed an item of any queue."""
        ...

    def begun(self, queue_id: str, annotator: str) -> list[ReviewItem]:
        """The items that a person has a draft of, in order."""
        ...

    def missing(self, queue_id: str) -> Mapping[str, int]:
        """How many answers each unfinished item still needs, in the order of the items."""
        ...

    def counts(self, queue_id: str) -> QueueCounts: ...


class Decisions(Protocol):
    """Flags and gold labels."""

    def add_flag(self, queue_id: str, flag: Flag, entry: AuditEntry) -> None: ...
    def flags(self, queue_id: str) -> list[Flag]: ...
    def add_gold(self, queue_id: str, label: GoldLabel, entry: AuditEntry) -> None: ...
    def gold(self, queue_id: str) -> Mapping[str, GoldLabel]: ...


class ResultsSeen(Protocol):
    """Who has opened the results of which records."""

    def note(
        self, person: str, sources: Sequence[str], indices: Collection[int] | None, at: str
    ) -> None:
        """Note that a person opened the results of some records, or of all of them."""
        ...

    def people(self) -> Sequence[str]:
        """Everybody who opened results."""
        ...

    def sources(self, people: Collection[str]) -> Sequence[str]:
        """The runs of which these people opened results."""
        ...

    def has_seen(self, people: Collection[str], sources: Collection[str], index: int) -> bool:
        """Whether any of these people opened the results of a record."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePorts(CallerPorts):
    """The ports of the use cases of review queues."""

    review: ReviewPorts
    queues: Queues
    assignments: Assignments
    progress: QueueWork
    decisions: Decisions
    seen: ResultsSeen
    source: Callable[[QueueSource], TraceSource]
    """Open what holds the responses of a queue."""
    new_queue_id: Callable[[], str]
