"""The right to write to a run: held for a while, renewed, and refused to whoever has lost it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sqlalchemy import Connection, Engine, select, update
from sqlalchemy.exc import SQLAlchemyError

from steelyard.errors import RunError
from steelyard.store.dialects import database_seconds
from steelyard.store.tables import runs

LEASE_S = 15.0
HEARTBEAT_S = 5.0
_LOOK_S = 0.2


class Lease:
    """One process's hold on a run.

    Every claim of a run raises its fence. A write carries the fence that its writer was given,
    so that one who slept through the loss of his lease can no longer write.
    """

    def __init__(self, engine: Engine, run_id: str, fence: int) -> None:
        self.run_id = run_id
        self._engine = engine
        self.fence = fence
        # Made once: to put them together takes ten times as long as to carry them out.
        self._renewal = (
            update(runs)
            .where(runs.c.run_id == run_id, runs.c.fence == fence)
            .values(lease_until=database_seconds() + LEASE_S)
        )
        self._request = select(runs.c.cancel_requested).where(runs.c.run_id == run_id)
        self._is_over = threading.Event()
        self._is_cancelled = False
        self._on_cancel: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._beat, name="steelyard-lease", daemon=True)
        self._thread.start()

    def require(self, connection: Connection) -> None:
        """Hold on for another while, within the transaction of a write; or refuse the write."""
        if connection.execute(self._renewal).rowcount != 1:
            raise RunError(
                f"{self.run_id} was taken over by another process; what this one still had is "
                "not kept"
            )

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call back, in another thread, when cancellation of the run is requested."""
        self._on_cancel = callback
        if self._is_cancelled:
            callback()

    def end(self) -> None:
        """Renew it no longer."""
        self._is_over.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _beat(self) -> None:
        waited = 0.0
        while not self._is_over.wait(_LOOK_S):
            waited += _LOOK_S
            try:
                if not self._is_cancelled:
                    self._look_for_cancel()
                if waited >= HEARTBEAT_S:
                    waited = 0.0
                    with self._engine.begin() as connection:
                        self.require(connection)
            except RunError:
                return  # taken over: the next write fails
            except SQLAlchemyError:
                continue  # a store that is busy for a moment is asked again

    def _look_for_cancel(self) -> None:
        with self._engine.connect() as connection:
            self._is_cancelled = bool(connection.execute(self._request).scalar())
        if self._is_cancelled and self._on_cancel:
            self._on_cancel()
