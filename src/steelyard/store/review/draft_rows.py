"""Rows of drafts: what one person has done with one item."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, select, update

from steelyard.errors import ConflictError, NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.queue import Draft, Standing
from steelyard.store.dialects import insert_new
from steelyard.store.review.queues import json_bytes
from steelyard.store.review_tables import drafts

_EMPTY: JsonObject = {"trace": {}, "turns": {}}


def begin_draft(
    connection: Connection, queue_id: str, item_id: str, annotator: str, at: str
) -> None:
    """An empty draft, unless there is one; a deferred item is open again."""
    row = {
        "item_id": item_id,
        "annotator": annotator,
        "queue_id": queue_id,
        "standing": "open",
        "revision": 0,
        "answers": json_bytes(_EMPTY),
        "changed_at": at,
    }
    if connection.execute(insert_new(drafts), row).rowcount != 1:
        mine = (drafts.c.item_id == item_id) & (drafts.c.annotator == annotator)
        connection.execute(update(drafts).where(mine).values(standing="open"))


def set_answers(
    connection: Connection,
    draft: Draft,
    revision: int,
    answers: JsonObject,
    at: str,
    *,
    is_final: bool = False,
) -> int:
    """Replace the answers of the revision that the writer knows; the new revision."""
    if not is_final and draft.revision == revision + 1 and draft.answers == answers:
        return draft.revision
    if draft.revision != revision:
        raise ConflictError(
            f"the draft of {draft.item_id} has revision {draft.revision}, not {revision}; it was "
            "changed elsewhere"
        )
    values = {"revision": revision + 1, "answers": json_bytes(answers), "changed_at": at}
    connection.execute(update(drafts).where(*_mine(draft)).values(**values))
    return revision + 1


def set_standing(
    connection: Connection,
    draft: Draft,
    standing: Standing,
    at: str,
    *,
    reason: str | None = None,
    committed: JsonObject | None = None,
) -> None:
    """What a person has done with the item now."""
    values: dict[str, Any] = {"standing": standing, "reason": reason, "changed_at": at}
    if committed is not None:
        values["committed"] = json_bytes(committed)
    connection.execute(update(drafts).where(*_mine(draft)).values(**values))


def draft_of(connection: Connection, item_id: str, annotator: str) -> Draft | None:
    """What a person has done with an item; None if nothing."""
    mine = (drafts.c.item_id == item_id) & (drafts.c.annotator == annotator)
    row = connection.execute(select(drafts).where(mine)).first()
    return None if row is None else read_draft(row)


def require_draft(connection: Connection, item_id: str, annotator: str) -> Draft:
    """The same of an item that the person has claimed at some time."""
    found = draft_of(connection, item_id, annotator)
    if found is None:
        raise NotFoundError(f"{annotator} has not claimed the review item '{item_id}'")
    return found


def read_draft(row: Any) -> Draft:
    """The draft of a row of its table."""
    return Draft(
        item_id=row.item_id,
        annotator=row.annotator,
        standing=row.standing,
        revision=row.revision,
        answers=json.loads(row.answers),
        changed_at=row.changed_at,
        reason=row.reason,
        committed=None if row.committed is None else json.loads(row.committed),
    )


def _mine(draft: Draft) -> tuple[Any, ...]:
    return drafts.c.item_id == draft.item_id, drafts.c.annotator == draft.annotator
