"""The state of a project's store, for whoever operates it."""

from __future__ import annotations

import shutil
from pathlib import Path

from sqlalchemy import Engine, func, select

from steelyard.model.run import TERMINAL
from steelyard.results.activity import Activity
from steelyard.store.database import require_in_place, require_schema, translated_errors
from steelyard.store.dialects import database_seconds
from steelyard.store.tables import results, runs


class StoreCondition:
    """Reads the state of the database and its disk."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder

    def require_own_schema(self) -> None:
        """Refuse a store that is gone, does not answer, or has another schema version."""
        require_in_place(self._engine)
        with translated_errors(self._engine), self._engine.connect() as connection:
            require_schema(connection)

    def free_bytes(self) -> int:
        """The free space where the project's data is."""
        return shutil.disk_usage(self._folder).free

    def activity(self) -> Activity:
        """How much work there is."""
        by_status = select(runs.c.status, func.count().label("number")).group_by(runs.c.status)
        waiting = select(func.count(), func.min(runs.c.created_at)).where(
            runs.c.status == "queued", runs.c.is_queued
        )
        unfinished = select(runs.c.run_id).where(runs.c.status.not_in(TERMINAL))
        rows = select(func.count()).where(results.c.run_id.in_(unfinished))
        is_held = runs.c.lease_until > database_seconds()
        owners = select(func.count(runs.c.owner.distinct())).where(
            is_held, runs.c.status.not_in(TERMINAL)
        )
        with translated_errors(self._engine), self._engine.connect() as connection:
            queued, oldest = connection.execute(waiting).one()
            return Activity(
                runs={row.status: row.number for row in connection.execute(by_status)},
                queued=queued,
                oldest_queued_at=oldest,
                rows_done=connection.execute(rows).scalar_one(),
                executing=connection.execute(owners).scalar_one(),
            )
