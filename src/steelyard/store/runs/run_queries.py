"""Queries over runs: the newest first, those that a list wants, and how far one has come."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs
from sqlalchemy import ColumnElement, Connection, Select, func, or_, select, tuple_

from steelyard.formats.encoding import without_surrogates
from steelyard.results.failures import FAILURE_STATUSES
from steelyard.results.runs import Progress, RunPosition, RunQuery
from steelyard.store.dialects import database_seconds
from steelyard.store.tables import events, results, runs, states


def newest_first() -> Select[*tuple[Any, ...]]:
    """All runs."""
    left = (runs.c.lease_until - database_seconds()).label("lease_left_s")
    return select(*runs.c, left).order_by(runs.c.created_at.desc(), runs.c.run_id.desc())


def wanted(query: RunQuery, after: RunPosition | None) -> Iterator[ColumnElement[bool]]:
    """What holds of the runs of a list after a position."""
    if after:
        yield tuple_(runs.c.created_at, runs.c.run_id) < (after.created_at, after.run_id)
    if query.status is not None:
        yield runs.c.status == query.status
    if query.group_id is not None:
        yield runs.c.group_id == query.group_id
    if query.text:
        named = (runs.c.run_id, runs.c.dataset, runs.c.target)
        yield or_(*(place_of(name, query.text) > 0 for name in named))


def place_of(column: ColumnElement[str], text: str) -> ColumnElement[int]:
    """Where a text begins in a column, ASCII letters in either case; from 1 on.

    Not LIKE, whose patterns cannot be as long as a text.
    """
    return func.instr(func.lower(column), func.lower(without_surrogates(text)))


def progress_of(connection: Connection, run_id: str) -> Progress:
    """How many rows a run has kept, within a transaction."""
    query = select(results.c.status, func.count().label("found"))
    query = query.where(results.c.run_id == run_id).group_by(results.c.status)
    found = {row.status: row.found for row in connection.execute(query)}
    failed = sum(count for status, count in found.items() if status in FAILURE_STATUSES)
    return Progress(rows=sum(found.values()), failed_rows=failed)


def progress_now(connection: Connection, run_ids: Sequence[str]) -> dict[str, Progress]:
    """How far runs have come, with how many of their rows are tried again."""
    counted = select(results.c.run_id, results.c.status, func.count().label("found"))
    counted = counted.where(results.c.run_id.in_(run_ids))
    made: dict[str, Progress] = dict.fromkeys(run_ids, Progress())
    for row in connection.execute(counted.group_by(results.c.run_id, results.c.status)):
        known, failed = made[row.run_id], row.found if row.status in FAILURE_STATUSES else 0
        made[row.run_id] = Progress(known.rows + row.found, known.failed_rows + failed)
    for run_id, known in made.items():
        made[run_id] = structs.replace(known, retrying_rows=_retrying(connection, run_id))
    return made


def _retrying(connection: Connection, run_id: str) -> int:
    """What the process that works on a run has said last."""
    is_progress = (events.c.run_id == run_id) & (events.c.kind == "progress")
    last = select(events.c.data).where(is_progress).order_by(events.c.sequence.desc()).limit(1)
    data = connection.execute(last).scalar()
    return json.loads(data).get("retrying_rows", 0) if data else 0


def states_of(connection: Connection, run_ids: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Every state of runs with its time, in order."""
    query = select(states).where(states.c.run_id.in_(run_ids))
    made: dict[str, list[tuple[str, str]]] = {run_id: [] for run_id in run_ids}
    for row in connection.execute(query.order_by(states.c.run_id, states.c.step)):
        made[row.run_id].append((row.state, row.at))
    return made
