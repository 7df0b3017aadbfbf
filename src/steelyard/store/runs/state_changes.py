"""Changes of a run's state, each stored with its time and published as an event."""

from __future__ import annotations

import json
from typing import cast

from sqlalchemy import Connection, func, insert, select, update

from steelyard.engine.states import is_terminal, require_move
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.run import RunState
from steelyard.store.dialects import overwrite_deleted
from steelyard.store.runs.run_events import add_state
from steelyard.store.runs.run_rows import encoded
from steelyard.store.tables import runs, states


def move_run(
    connection: Connection, run_id: str, state: RunState, at: str, caller: Caller | None = None
) -> None:
    """Go to another state within a transaction; the event names the caller who caused it."""
    where = runs.c.run_id == run_id
    old = connection.execute(select(runs.c.status).where(where)).scalar_one()
    require_move(cast(RunState, old), state)
    ended = {"is_queued": False} if is_terminal(state) else {}
    connection.execute(update(runs).where(where).values(status=state, **ended))
    query = select(func.max(states.c.step)).where(states.c.run_id == run_id)
    step = cast(int, connection.execute(query).scalar_one()) + 1
    connection.execute(insert(states), {"run_id": run_id, "step": step, "state": state, "at": at})
    add_state(connection, run_id, at, state, caller)


def redact_options(connection: Connection, run_id: str) -> bool:
    """Keep the options of an ended run as its manifest has them; whether they were others.

    Only who resumes a run needs them as they were given.
    """
    where = runs.c.run_id == run_id
    plan = json.loads(connection.execute(select(runs.c.plan).where(where)).scalar_one())
    written = plan.get("about", {}).get("options")
    if not isinstance(written, dict) or written == plan["options"]:
        return False
    overwrite_deleted(connection)
    row = encoded({**plan, "options": cast(JsonObject, written)})
    connection.execute(update(runs).where(where).values(plan=row))
    return True
