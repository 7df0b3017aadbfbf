"""What people say about records, kept with all that they said before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import Connection, Engine, Select, func, select

from steelyard.model.audit import AuditEntry
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.annotation import KeptAs, Revision, Wanted
from steelyard.store.audit_log import add_entry
from steelyard.store.database import few_rows, streamed, translated_errors
from steelyard.store.dialects import insert_new
from steelyard.store.tables import annotation_revisions as revisions

_CHANGES: tuple[KeptAs, ...] = ("imported", "replaced")
_KEY = ("rubric", "run_id", "record_id", "repeat", "annotator", "queue_id")


class AnnotationStore:
    """The annotations of a project: rows of labels, each under who said it about what."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(
        self, rows: Sequence[JsonObject], entry: AuditEntry, *, is_replacing: bool
    ) -> list[KeptAs]:
        """What becomes of each row, in one transaction, in which it is logged as well.

        The same once more changes nothing. Something else is refused, or becomes the next
        revision, after which what was said before is history.
        """
        with translated_errors(self._engine), self._engine.begin() as connection:
            became: list[KeptAs] = [
                keep_label(connection, row, entry.at, is_replacing=is_replacing) for row in rows
            ]
            kept = {how: became.count(how) for how in _CHANGES if how in became}
            if kept:
                add_entry(connection, replace(entry, detail={**entry.detail, **kept}))
            return became

    def people(self) -> list[str]:
        """Everybody who has given a label."""
        query = select(revisions.c.annotator).distinct()
        return [row.annotator for row in few_rows(self._engine, query)]

    def all(self, wanted: Wanted, *, with_history: bool = False) -> Iterator[Revision]:
        """What was said, in the order of rubrics, runs, records, people and queues."""
        query = select(revisions).order_by(*revisions.c[*_KEY], revisions.c.revision)
        if not with_history:
            query = query.where(
                revisions.c.revision == _newest(), revisions.c.is_withdrawn.is_(False)
            )
        for row in streamed(self._engine, _narrowed(query, wanted)):
            yield Revision(
                number=row.revision,
                at=row.at,
                row=json.loads(row.row),
                is_withdrawn=row.is_withdrawn,
            )


def keep_label(connection: Connection, row: JsonObject, at: str, *, is_replacing: bool) -> KeptAs:
    """What becomes of one row, within the transaction of its caller."""
    if _is_added(connection, row, at, 1):
        return "imported"
    last = _last(connection, row)
    if last.is_withdrawn:
        _is_added(connection, row, at, last.revision + 1)
        return "imported"
    if json.loads(last.row) == row:
        return "same"
    if not is_replacing:
        return "refused"
    _is_added(connection, row, at, last.revision + 1)
    return "replaced"


def withdraw_label(connection: Connection, row: JsonObject, at: str) -> None:
    """Take the last revision of a label back, within the transaction of its caller.

    What the person had said before counts again; without that, the label counts no more. Both
    revisions stay as history.
    """
    last = _last(connection, row)
    if last.is_withdrawn:
        return
    before = _last(connection, row, before=last.revision)
    said = last if before is None or before.is_withdrawn else before
    is_withdrawn = said is last
    number = last.revision + 1
    _is_added(connection, json.loads(said.row), at, number, is_withdrawn=is_withdrawn)


def _last(connection: Connection, row: JsonObject, before: int | None = None) -> Any:
    """The highest revision, or the one before another; None if there is none."""
    here = (revisions.c[name] == value for name, value in _key(row).items())
    query = select(*revisions.c["revision", "row", "is_withdrawn"]).where(*here)
    if before is not None:
        query = query.where(revisions.c.revision < before)
    return connection.execute(query.order_by(revisions.c.revision.desc()).limit(1)).first()


def _is_added(
    connection: Connection, row: JsonObject, at: str, revision: int, *, is_withdrawn: bool = False
) -> bool:
    """Whether a revision is new; the insert takes the lock under which all the rest is done."""
    data = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
    values = {**_key(row), "revision": revision, "at": at, "row": data}
    values["is_withdrawn"] = is_withdrawn
    return connection.execute(insert_new(revisions), values).rowcount == 1


def _key(row: JsonObject) -> dict[str, str | int]:
    given = {"run_id": "", "repeat": 0, "queue_id": "", **row}
    return {name: cast("str | int", given[name]) for name in _KEY}


def _newest() -> Any:
    other = revisions.alias()
    is_same = (other.c[name] == revisions.c[name] for name in _KEY)
    return select(func.max(other.c.revision)).where(*is_same).scalar_subquery()


def _narrowed(query: Select[*tuple[Any, ...]], wanted: Wanted) -> Select[*tuple[Any, ...]]:
    for name, value in (("rubric", wanted.rubric), ("annotator", wanted.annotator)):
        if value is not None:
            query = query.where(revisions.c[name] == value)
    if wanted.runs is not None:
        query = query.where(revisions.c.run_id.in_(wanted.runs))
    if wanted.records is not None:
        query = query.where(revisions.c.record_id.in_(wanted.records))
    return query
