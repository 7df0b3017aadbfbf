"""Review queues in a store of their own, without a run behind them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from fakes.audit import an_entry
from fakes.stores import open_store
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.queue import QueueSource, ReviewItem, ReviewQueue
from steelyard.store.annotations import AnnotationStore
from steelyard.store.ids import new_token
from steelyard.store.review.assignments import AssignmentStore
from steelyard.store.review.decisions import DecisionStore
from steelyard.store.review.progress import ReviewProgress
from steelyard.store.review.queues import QueueStore

if TYPE_CHECKING:
    from sqlalchemy import Engine

QUEUE = "queue_1"
RUN = "run_1"
RUBRIC = "rubric/desk-v1"
AT = "2026-11-18T08:00:00.000+00:00"


class StoredQueue:
    """One queue in a database, with every part of the store that people work with."""

    def __init__(self, path: Path, items: int = 3, reviews: int = 1, lease_s: float = 60) -> None:
        self.engine = open_store(path)
        self.queues = QueueStore(self.engine, _item_ids().__next__)
        self.work = assignments(self.engine, lease_s)
        self.progress = ReviewProgress(self.engine)
        self.decisions = DecisionStore(self.engine)
        self.annotations = AnnotationStore(self.engine)
        self.queues.create(a_queue(reviews), some_items(items), an_entry())
        self.items = [one.item_id for one in self.queues.items(QUEUE)]

    def expire(self, *, item_id: str | None = None) -> None:
        """Let the leases of all unfinished claims, or of one item, run out."""
        where = "" if item_id is None else f" AND item_id = '{item_id}'"
        with self.engine.begin() as connection:
            connection.exec_driver_sql(
                f"UPDATE review_slots SET lease_until = 1.0 WHERE lease_until IS NOT NULL{where}"
            )

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()


def assignments(engine: Engine, lease_s: float = 60) -> AssignmentStore:
    """What people do in a database."""
    return AssignmentStore(engine, new_token, lease_s)


def a_queue(reviews: int = 1) -> ReviewQueue:
    """A queue of a run."""
    return ReviewQueue(
        queue_id=QUEUE,
        name="Desk",
        source=QueueSource(kind="run", id=RUN),
        rubric=RUBRIC,
        rubric_sha256="0" * 64,
        rubric_row={"name": "Desk"},
        reviews_required=reviews,
        reveal="after_commit",
        instructions=None,
        design={"by": "random"},
        created_at=AT,
        created_by="lead",
    )


def some_items(number: int) -> list[ReviewItem]:
    """Items in the order of their records."""
    return [
        ReviewItem(
            item_id="",
            queue_id=QUEUE,
            place=place,
            index=place - 1,
            repeat=0,
            record_id=f"r{place - 1}",
            inclusion_prob=0.5,
        )
        for place in range(1, number + 1)
    ]


def answers(value: int = 1) -> JsonObject:
    """Answers about a whole trace."""
    return {"trace": {"correct": value}, "turns": {}}


def a_label(annotator: str, index: int, value: int = 1, exposure: str = "blind") -> JsonObject:
    """The row of a label about a record of the queue."""
    return {
        "record_id": f"r{index}",
        "run_id": RUN,
        "rubric": RUBRIC,
        "annotator": annotator,
        "exposure": exposure,
        "answers": answers(value),
    }


def _item_ids() -> Iterator[str]:
    return (f"item_{number}" for number in count(1))
