"""What happens to a run, as rows that are only added to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from sqlalchemy import Connection, Engine, func, insert, select

from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonValue
from steelyard.model.run import RunState
from steelyard.results.runs import EventKind, RunEvent
from steelyard.store.database import streamed
from steelyard.store.tables import events


def add_event(
    connection: Connection, run_id: str, at: str, kind: EventKind, data: Mapping[str, JsonValue]
) -> None:
    """One more event, within a transaction that holds the run."""
    row = {
        "run_id": run_id,
        "sequence": last_event(connection, run_id) + 1,
        "at": at,
        "kind": kind,
        "data": json.dumps(data, ensure_ascii=False).encode("utf-8"),
    }
    connection.execute(insert(events), row)


def last_event(connection: Connection, run_id: str) -> int:
    """The sequence number of the last event of a run; 0 where there is none."""
    last = select(func.max(events.c.sequence)).where(events.c.run_id == run_id)
    return connection.execute(last).scalar() or 0


def add_state(
    connection: Connection, run_id: str, at: str, state: RunState, caller: Caller | None
) -> None:
    """A state, and who caused it where somebody did."""
    data = {"state": state, **(asdict(caller) if caller else {})}
    add_event(connection, run_id, at, "state", data)


def warnings_of(engine: Engine, run_id: str, limit: int) -> list[str]:
    """What a run has warned of, in order; the first so many."""
    query = select(events.c.data).where(events.c.run_id == run_id, events.c.kind == "warning")
    query = query.order_by(events.c.sequence).limit(limit)
    return [str(json.loads(row.data).get("message", "")) for row in streamed(engine, query)]


def events_after(engine: Engine, run_id: str, after: int, limit: int) -> list[RunEvent]:
    """The events of a run after a sequence number, in order."""
    query = select(*events.c["sequence", "at", "kind", "data"])
    query = query.where(events.c.run_id == run_id, events.c.sequence > after)
    query = query.order_by(events.c.sequence).limit(limit)
    return [
        RunEvent(row.sequence, row.at, row.kind, json.loads(row.data))
        for row in streamed(engine, query)
    ]
