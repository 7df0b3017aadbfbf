"""A new run in the database."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, insert

from steelyard.model.audit import AuditEntry
from steelyard.results.stored_run import StoredRun
from steelyard.store.audit_log import add_entry
from steelyard.store.dialects import database_seconds
from steelyard.store.runs.holds import note_hold
from steelyard.store.runs.leases import LEASE_S
from steelyard.store.runs.run_events import add_event, add_state
from steelyard.store.runs.run_rows import encoded
from steelyard.store.tables import runs, states


def add_run(
    connection: Connection, run: StoredRun, entry: AuditEntry | None, warnings: Sequence[str]
) -> None:
    """Add a run with its first events and who made it, within a transaction."""
    run_id, at = run.run_id, run.created_at
    connection.execute(
        insert(runs).values(lease_until=database_seconds() + (LEASE_S if run.fence else 0.0)),
        {
            "run_id": run_id,
            "group_id": run.group_id,
            "created_at": at,
            "status": run.status,
            "dataset": run.dataset,
            "target": run.target,
            "owner": run.owner,
            "plan": encoded(run.plan.json() if run.plan else {}),
            "fence": run.fence,
            "is_queued": run.is_queued,
        },
    )
    first = {"run_id": run_id, "step": 0, "state": run.status, "at": at}
    connection.execute(insert(states), first)
    add_state(connection, run_id, at, run.status, entry.caller if entry else None)
    for warning in warnings:
        add_event(connection, run_id, at, "warning", {"message": warning})
    if entry:
        add_entry(connection, entry)
    if run.fence:
        note_hold(connection, run_id, run.fence, at)
