"""Review queues: items that people answer, and what each person has done with each item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from steelyard.model.json_value import JsonObject

FilledBy: TypeAlias = Literal[
    "random", "stratified", "verdict", "near_threshold", "jury_split", "picked", "outdated"
]
"""How items of a queue are drawn; `picked` ones somebody chose; `outdated` are those of another
queue that were answered under an older wording of the rubric."""
Reveal: TypeAlias = Literal["after_commit", "never"]
"""When a person may see what the judge and others answered."""
QueueStatus: TypeAlias = Literal["open", "closed"]
SourceKind: TypeAlias = Literal["run", "trace_set"]
Standing: TypeAlias = Literal["open", "deferred", "skipped", "submitted"]
"""What a person has done with an item that they claimed."""
ItemState: TypeAlias = Literal["waiting", "open", "deferred", "skipped", "submitted", "taken"]
"""An item as one person sees it: `waiting` for them, or `taken` by as many others as needed."""
FlagKind: TypeAlias = Literal["guideline_gap", "bad_item", "note"]


def no_json() -> JsonObject:
    """An empty object."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSource:
    """What holds the traces of a queue: a run or a trace set."""

    kind: SourceKind
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQueue:
    """Items of one source that people answer with one version of a rubric."""

    queue_id: str
    name: str
    source: QueueSource
    rubric: str
    """The reference of the question rubric."""
    rubric_sha256: str | None
    """The hash of its content when the queue was made."""
    rubric_row: JsonObject
    """Its content at that time, which every item is answered with."""
    reviews_required: int
    """The number of people who answer each item; those who break ties come on top."""
    reveal: Reveal
    instructions: str | None
    design: JsonObject
    """How the items were drawn; never shown to whoever answers them."""
    created_at: str
    created_by: str
    status: QueueStatus = "open"
    judged_by: tuple[str, ...] = ()
    """Runs in which a judge answers the items with the same rubric, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """One response of a queue."""

    item_id: str
    queue_id: str
    place: int
    """Its position in the queue, from 1."""
    index: int
    """The index of the record in its dataset."""
    repeat: int
    record_id: str
    """The name that labels use: the id of the record, or its index."""
    inclusion_prob: float | None
    """None where somebody picked it: what they would have picked else, nobody knows."""
    stratum: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What one person has done with one item so far."""

    item_id: str
    annotator: str
    standing: Standing
    revision: int
    """Counts the changes of the answers, from 0."""
    answers: JsonObject
    changed_at: str
    reason: str | None = None
    """Why it was skipped."""
    committed: JsonObject | None = None
    """The label that was submitted last, whether or not it was undone since."""

    @property
    def says_something(self) -> bool:
        """Whether a question is answered, or was when it was submitted."""
        return self.committed is not None or any(self.answers.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemClaim:
    """An item that one person may write to until the lease expires or somebody takes it over."""

    item: ReviewItem
    annotator: str
    token: str
    """Repeated with every write; another claim of the same slot has another token."""
    lease_expires_at: float
    """Seconds since 1970, by the clock of the database."""
    draft: Draft


class SlotHolder(NamedTuple):
    """Who answers an item, and whether they were asked because others are divided on it."""

    annotator: str
    is_tie_break: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedItem:
    """An item as one person sees it before they have answered it."""

    item_id: str
    place: int
    record_id: str
    repeat: int
    state: ItemState
    flags: int = 0
    """How many flags this person has set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnProgress:
    """How far one person has come in a queue."""

    items: int
    waiting: int
    """Items that this person could claim, deferred ones included."""
    open: int = 0
    deferred: int = 0
    skipped: int = 0
    submitted: int = 0

    @classmethod
    def of(cls, states: Mapping[ItemState, int]) -> OwnProgress:
        """The progress of whoever sees so many items in each state."""
        deferred = states.get("deferred", 0)
        return cls(
            items=sum(states.values()),
            waiting=states.get("waiting", 0) + deferred,
            open=states.get("open", 0),
            deferred=deferred,
            skipped=states.get("skipped", 0),
            submitted=states.get("submitted", 0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorProgress:
    """What one person has done in a queue, for whoever leads it."""

    annotator: str
    open: int = 0
    deferred: int = 0
    skipped: int = 0
    submitted: int = 0
    flags: int = 0
    last_change_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts:
    """How far a queue has come."""

    items: int
    asked: int
    """Answers that all items need together."""
    reviews: int
    """Submitted answers, of all people."""
    complete: int
    """Items with as many reviews as required."""
    adjudicated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """What a person noted about an item."""

    item_id: str
    annotator: str
    kind: FlagKind
    text: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldLabel:
    """The answers that an adjudicator decided on, and what they were decided from."""

    item_id: str
    revision: int
    answers: JsonObject
    decided_by: str
    decided_at: str
    note: str | None = None
    provenance: JsonObject = field(default_factory=no_json)
    """The submitted answers that the adjudicator saw, each with its annotator and revision."""
