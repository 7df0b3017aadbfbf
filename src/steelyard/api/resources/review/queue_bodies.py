"""Bodies of requests that make a review queue, and of their answers."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from steelyard.api.resources.review.lead_bodies import PrecisionBody
from steelyard.model.labels.queue import FilledBy, Reveal
from steelyard.results.records import Count
from steelyard.usecases.review.queues.create_queue import MOST_ITEMS, MOST_REVIEWS


class PickedRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A record of the run."""

    index: Count
    """Its index."""
    repeat: Count = 0
    """Which of its responses."""


class FillBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How items are drawn."""

    by: FilledBy = "random"
    """`random`; `stratified` by a slice or by verdict; `verdict`: equally many of each verdict;
    `near_threshold`; `jury_split`; `picked`: the `records`; `outdated`: the items of `queue` that
    were answered under other content than the rubric has now."""
    size: Annotated[int, Meta(ge=1, le=MOST_ITEMS)] | None = None
    """The number of items; by default 100, or all where fewer can be drawn."""
    slice: str | None = None
    """The slice that defines the strata of a stratified draw; by default the verdict."""
    equal: bool = False
    """Whether all strata give equally many items."""
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    """The same seed draws the same items."""
    records: Annotated[list[PickedRecord], Meta(max_length=MOST_ITEMS)] = []
    """The records that are `picked`. Their labels have no chance and correct no rate."""
    queue: str | None = None
    """Of `outdated`: the queue, in place of a run; its items keep their probabilities."""


class NewQueueBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A queue to be made."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    """The name that people see."""
    run_id: str | None = None
    """The finished run whose responses are reviewed."""
    trace_set: str | None = None
    """The trace set whose traces are reviewed, as it is now; instead of a run."""
    rubric: str | None = None
    """The question rubric; by default the one that graded the run."""
    reviews_required: Annotated[int, Meta(ge=1, le=MOST_REVIEWS)] = 1
    """The number of people who answer each item."""
    fill: FillBody = msgspec.field(default_factory=FillBody)
    """How items are drawn."""
    reveal: Reveal = "after_commit"
    """When annotators may see what the judge and others answered."""
    instructions: Annotated[str, Meta(max_length=20_000)] | None = None
    """What annotators read first."""


class CreatedQueueBody(msgspec.Struct, frozen=True):
    """A new queue."""

    queue_id: str
    """The queue."""
    items: int
    """The number of its items."""
    precision: PrecisionBody | None
    """How precise a rate from its labels is, and how many labels more precision needs; null where
    the items were picked."""
    left_out: int = 0
    """How many of the records that were picked have no response."""
