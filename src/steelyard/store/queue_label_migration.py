"""The step that gives each label the review queue in which it was submitted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    LargeBinary,
    PrimaryKeyConstraint,
    column,
    insert,
    select,
    table,
    update,
)

from steelyard.store.column_types import Text, Whole

if TYPE_CHECKING:
    from alembic.operations import Operations

_KEY = ("rubric", "run_id", "record_id", "repeat", "annotator")
_AT_ONCE = 1_000
_Place: TypeAlias = tuple[str | int, ...]
_drafts = table(
    "review_drafts",
    *map(column, ("item_id", "annotator", "queue_id", "changed_at")),
    column("committed", LargeBinary),
)
_unsorted = table(
    "annotations_of_all_queues",
    *map(column, (*_KEY, "revision", "at")),
    column("row", LargeBinary),
    column("is_withdrawn", Boolean),
)


class _Submitted(NamedTuple):
    """A label that a person submitted in a queue."""

    queue_id: str
    row: dict[str, Any]


def keep_labels_by_queue(operations: Operations) -> None:
    """One label for each queue: an answer in one queue replaces none of another.

    What was replaced by an answer in another queue counts again. A label that fits no submission
    was imported, and belongs to no queue.
    """
    operations.rename_table("annotations", _unsorted.name)
    made = operations.create_table(
        "annotations",
        Column("rubric", Text, nullable=False),
        Column("run_id", Text, nullable=False),
        Column("record_id", Text, nullable=False),
        Column("repeat", Whole, nullable=False),
        Column("annotator", Text, nullable=False),
        Column("queue_id", Text, nullable=False),
        Column("revision", Whole, nullable=False),
        Column("at", Text, nullable=False),
        Column("row", LargeBinary, nullable=False),
        Column("is_withdrawn", Boolean, nullable=False, server_default="0"),
        PrimaryKeyConstraint(*_KEY, "queue_id", "revision"),
        sqlite_with_rowid=False,
    )
    connection = operations.get_bind()
    submitted = _submitted(connection)
    numbers: Counter[tuple[_Place, str]] = Counter()
    found = connection.execute(select(_unsorted).order_by(*_unsorted.c[*_KEY, "revision"]))
    for rows in found.partitions(_AT_ONCE):
        sorted_rows = [_of_queue(row, submitted, numbers) for row in rows]
        connection.execute(insert(made), sorted_rows)
    operations.drop_table(_unsorted.name)


def _submitted(connection: Connection) -> dict[_Place, list[_Submitted]]:
    """What people submitted, by what it is about; their drafts name the queue from now on."""
    found: dict[_Place, list[_Submitted]] = {}
    query = select(_drafts).where(_drafts.c.committed.is_not(None))
    for draft in connection.execute(query.order_by(_drafts.c.changed_at)).all():
        row = json.loads(draft.committed)
        place = tuple({"run_id": "", "repeat": 0, **row}[name] for name in _KEY)
        found.setdefault(place, []).append(_Submitted(draft.queue_id, row))
        here = (_drafts.c.item_id == draft.item_id) & (_drafts.c.annotator == draft.annotator)
        named = _json_bytes({**row, "queue_id": draft.queue_id})
        connection.execute(update(_drafts).where(here).values(committed=named))
    return found


def _of_queue(
    old: Any, submitted: dict[_Place, list[_Submitted]], numbers: Counter[tuple[_Place, str]]
) -> dict[str, Any]:
    """A revision under its queue, with the next number there."""
    place = tuple(getattr(old, name) for name in _KEY)
    row = json.loads(old.row)
    queue_id = _queue_of(row, submitted.get(place, ()))
    numbers[place, queue_id] += 1
    return {
        **dict(zip(_KEY, place, strict=True)),
        "queue_id": queue_id,
        "revision": numbers[place, queue_id],
        "at": old.at,
        "row": _json_bytes({**row, "queue_id": queue_id}) if queue_id else old.row,
        "is_withdrawn": old.is_withdrawn,
    }


def _queue_of(row: dict[str, Any], submitted: Sequence[_Submitted]) -> str:
    """The queue in which a label was submitted last, or else one with the same chance."""
    same = (one.queue_id for one in submitted if one.row == row)
    alike = (one.queue_id for one in submitted if _drawn(one.row) == _drawn(row))
    return next(same, None) or next(alike, "")


def _drawn(row: dict[str, Any]) -> tuple[Any, ...]:
    """How a record was drawn; none but a queue says all of it."""
    return tuple(row.get(name) for name in ("inclusion_prob", "stratum", "rubric_sha256"))


def _json_bytes(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
