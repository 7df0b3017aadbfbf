"""Queries over runs: the newest first, those that a list wants, and how far one has come."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec
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


def progress_now(
    connection: Connection, run_ids: Sequence[str], reported: Collection[str]
) -> dict[str, Progress]:
    """How far runs have come; of reported ones, what their processes have said last.

    To count the rows of a large run takes as long as many answers.
    """
    said = {run_id: last_progress(connection, run_id) for run_id in reported}
    made = {run_id: progress for run_id, progress in said.items() if progress}
    return made | {
        run_id: progress_of(connection, run_id) for run_id in run_ids if run_id not in made
    }


def last_progress(connection: Connection, run_id: str) -> Progress | None:
    """What the process that works on a run has said last, at most a second ago."""
    is_progress = (events.c.run_id == run_id) & (events.c.kind == "progress")
    last = select(events.c.data).where(is_progress).order_by(events.c.sequence.desc()).limit(1)
    data = connection.execute(last).scalar()
    return msgspec.json.decode(data, type=Progress) if data else None


def states_of(connection: Connection, run_ids: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Every state of runs with its time, in order."""
    query = select(states).where(states.c.run_id.in_(run_ids))
    made: dict[str, list[tuple[str, str]]] = {run_id: [] for run_id in run_ids}
    for row in connection.execute(query.order_by(states.c.run_id, states.c.step)):
        made[row.run_id].append((row.state, row.at))
    return made
