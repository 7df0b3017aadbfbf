"""Queries over runs: the newest first, those that a list wants, and how far one has come."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import msgspec
from msgspec import structs
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    func,
    not_,
    or_,
    select,
    tuple_,
)

from steelyard.formats.encoding import without_surrogates
from steelyard.model.run import VALIDATION
from steelyard.results.failures import FAILED_STATUSES
from steelyard.results.runs import Progress, RunPosition, RunQuery
from steelyard.store.clock import SystemClock
from steelyard.store.dialects import contains, database_seconds, json_total
from steelyard.store.tables import events, results, runs, states

_SEALED = ("completed", "completed_with_failures", "cancelled")
"""The states of runs that have reported all of their rows."""
_FRESH = timedelta(seconds=2)
is_latest = re.compile(r"latest(?:~(\d{1,9}))?").fullmatch


def newest_first() -> Select[*tuple[Any, ...]]:
    """All runs."""
    left = (runs.c.lease_until - database_seconds()).label("lease_left_s")
    return select(*runs.c, left).order_by(runs.c.created_at.desc(), runs.c.run_id.desc())


def named(name: str, *columns: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
    """The run that `latest` or `latest~N` (N before it) names, or two that begin with a text.

    Runs that a validation of a judge made are not what anybody means by the latest.
    """
    query = newest_first().with_only_columns(*columns) if columns else newest_first()
    back = is_latest(name)
    if back:
        is_helper = runs.c.group_id.startswith(VALIDATION, autoescape=True)
        wanted = or_(runs.c.group_id.is_(None), not_(is_helper))
        return query.where(wanted).offset(int(back[1] or 0)).limit(1)
    name = without_surrogates(name)
    begin = func.substr(runs.c.run_id, 1, len(name))
    return query.where(func.lower(begin) == func.lower(name)).limit(2)


# Made once: to put a query together takes longer than to run it.
BY_ID = newest_first().where(runs.c.run_id == bindparam("run_id"))
_STATES = (
    select(states.c.run_id, states.c.state, states.c.at)
    .where(states.c.run_id.in_(bindparam("run_ids", expanding=True)))
    .order_by(states.c.run_id, states.c.step)
)
ANY_RESULT = select(results.c.idx).where(results.c.run_id == bindparam("run_id")).limit(1)
SPENT = select(
    (json_total(results.c.facts, "cost_usd") - json_total(results.c.facts, "copied_usd")).label(
        "spent"
    )
).where(results.c.run_id == bindparam("run_id"))
_REPORTED = (
    select(events.c.at, events.c.data, runs.c.status)
    .join(runs, runs.c.run_id == events.c.run_id)
    .where(events.c.run_id == bindparam("run_id"), events.c.kind == "progress")
    .order_by(events.c.sequence.desc())
    .limit(1)
)
_KEPT = (
    select(results.c.status, func.count().label("found"))
    .where(results.c.run_id == bindparam("run_id"))
    .group_by(results.c.status)
)


def wanted(query: RunQuery, after: RunPosition | None) -> Iterator[ColumnElement[bool]]:
    """What holds of the runs of a list after a position."""
    if after:
        yield tuple_(runs.c.created_at, runs.c.run_id) < (after.created_at, after.run_id)
    if query.status is not None:
        yield runs.c.status == query.status
    if query.group_id is not None:
        yield runs.c.group_id == query.group_id
    if query.dataset is not None:
        yield runs.c.dataset == query.dataset
    if query.target is not None:
        yield runs.c.target == query.target
    if query.text:
        named = (runs.c.run_id, runs.c.dataset, runs.c.target)
        yield or_(*(contains(name, query.text) for name in named))


def progress_of(connection: Connection, run_id: str) -> Progress:
    """How many rows a run has kept, within a transaction."""
    found = {row.status: row.found for row in connection.execute(_KEPT, {"run_id": run_id})}
    failed = sum(count for status, count in found.items() if status in FAILED_STATUSES)
    return Progress(rows=sum(found.values()), failed_rows=failed)


def progress_now(connection: Connection, run_ids: Sequence[str]) -> dict[str, Progress]:
    """How far runs have come, with how many of their rows are tried again."""
    since = (SystemClock().now() - _FRESH).isoformat(timespec="milliseconds")
    return {run_id: _progress_now(connection, run_id, since) for run_id in run_ids}


def _progress_now(connection: Connection, run_id: str, since: str) -> Progress:
    """What a run has reported at its end or just now; else its rows are counted.

    To count the rows of a large run takes a hundred times as long.
    """
    row = connection.execute(_REPORTED, {"run_id": run_id}).first()
    reported = msgspec.json.decode(row.data, type=Progress) if row else Progress()
    if row and (row.status in _SEALED or row.at >= since):
        return reported
    counted = progress_of(connection, run_id)
    return structs.replace(counted, retrying_rows=reported.retrying_rows)


def states_of(connection: Connection, run_ids: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Every state of runs with its time, in order."""
    made: dict[str, list[tuple[str, str]]] = {run_id: [] for run_id in run_ids}
    for run_id, state, at in connection.execute(_STATES, {"run_ids": run_ids}):
        made[run_id].append((state, at))
    return made
