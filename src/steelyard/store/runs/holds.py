"""When processes have worked on a run, and what they left unfinished."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, func, insert, select, update

from steelyard.model.run import place_mark
from steelyard.store.runs.run_events import add_event
from steelyard.store.tables import attempts, holds


def note_hold(connection: Connection, run_id: str, fence: int, at: str) -> None:
    """A process has taken a run, within a transaction."""
    connection.execute(insert(holds), {"run_id": run_id, "fence": fence, "began_at": at})


def note_stop(connection: Connection, run_id: str, fence: int, at: str, why: str) -> None:
    """The process lets go of it, within a transaction; with a warning that says why, if known."""
    where = (holds.c.run_id == run_id) & (holds.c.fence == fence)
    connection.execute(update(holds).where(where).values(ended_at=at))
    if why:
        add_event(connection, run_id, at, "warning", {"message": why})


def held(run_id: str) -> Select[*tuple[Any, ...]]:
    """Every hold on a run, in order."""
    return select(holds).where(holds.c.run_id == run_id).order_by(holds.c.fence)


def uncounted(run_id: str, error_code: str) -> Select[*tuple[Any, ...]]:
    """How many calls of a run used no attempt, for this reason."""
    count = select(func.count().label("found")).select_from(attempts)
    is_meant = attempts.c.call.contains(place_mark(error_code), autoescape=True)
    return count.where(attempts.c.run_id == run_id, is_meant)
