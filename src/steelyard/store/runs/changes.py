"""Whether the store, one run, any run or who may do what has changed, told by a short read."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sqlalchemy import bindparam, func, select

from steelyard.formats.encoding import without_surrogates
from steelyard.store.database import few_rows, is_file, translated_errors
from steelyard.store.dialects import CHANGE_COUNT, change_count, newest_row
from steelyard.store.runs.run_queries import named
from steelyard.store.tables import audit_log, events, runs, states

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine, Select

    Query: TypeAlias = Select[*tuple[Any, ...]]

Version: TypeAlias = tuple[object, ...]
"""Compared with another one, and nothing else."""

_MOST_NAMES = 512
# Whatever changes an ended run is in the audit log: it may be pruned, and nothing else.
_OF_RUN = select(
    *runs.c["status", "owner", "fence", "is_queued", "cancel_requested"],
    select(func.max(events.c.sequence))
    .where(events.c.run_id == runs.c.run_id)
    .correlate(runs)
    .scalar_subquery(),
    select(func.max(audit_log.c.sequence))
    .where(audit_log.c.subject == runs.c.run_id)
    .correlate(runs)
    .scalar_subquery(),
).where(runs.c.run_id == bindparam("run_id"))

_LAST_CHANGE = select(func.max(audit_log.c.sequence))
# A new run has its first state; what else happens to one that people do is in the audit log.
_OF_RUNS = select(newest_row(states), _LAST_CHANGE.scalar_subquery())
_COMMITS = select(change_count())


class StoreChanges:
    """Tells versions of the store and of its runs apart, whichever process has changed them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._rows: _Rows = _FileRows(engine) if is_file(engine) else _ServerRows(engine)
        self._named: dict[str, tuple[Version, Sequence[str]]] = {}

    def commits(self) -> Version:
        """Another one after every commit."""
        return self._rows.commits()

    def of_run(self, name: str) -> Version:
        """Another one after every change of the run that is called so now.

        Rows that a run adds while it is executed are not a change of it; states and events are.
        """
        row = self._rows.first(_OF_RUN, run_id=without_surrogates(name))
        if row:
            return row
        return (*((one, self._rows.first(_OF_RUN, run_id=one)) for one in self._ids(name)),)

    def of_runs(self) -> Version:
        """Another one when a run is made, goes to another state, or is changed by somebody."""
        return self._rows.first(_OF_RUNS)

    def of_access(self) -> Version:
        """Another one after every change of who may do what."""
        return self._rows.first(_LAST_CHANGE)

    def close(self) -> None:
        """Let go of the connection."""
        self._rows.close()

    def _ids(self, name: str) -> Sequence[str]:
        """The runs that a name means that is no id; looked up again when any run is made."""
        of_runs = self.of_runs()
        known = self._named.get(name)
        if known is None or known[0] != of_runs:
            found = few_rows(self._engine, named(name, runs.c.run_id))
            if len(self._named) >= _MOST_NAMES:
                self._named.clear()
            known = self._named[name] = of_runs, [row.run_id for row in found]
        return known[1]


class _Rows(Protocol):
    """Reads one row at a time, as quickly as its database can."""

    def commits(self) -> Version: ...

    def first(self, query: Query, **values: str) -> Version: ...

    def close(self) -> None: ...


class _FileRows:
    """SQLite counts commits for each connection, so that one is kept for this alone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._cursor: Any = None
        self._texts: dict[Query, str] = {}

    def commits(self) -> Version:
        """The number that the database keeps."""
        return self._read(CHANGE_COUNT)

    def first(self, query: Query, **values: str) -> Version:
        """The first row of a query."""
        text = self._texts.get(query)
        if text is None:
            text = self._texts[query] = str(query.compile(self._engine))
        return self._read(text, *values.values())

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._cursor is not None:
                self._cursor.connection.close()
                self._cursor = None

    def _read(self, text: str, *values: str) -> Version:
        with self._lock, translated_errors(self._engine):
            cursor = self._cursor or self._connect()
            return cursor.execute(text, values).fetchone()

    def _connect(self) -> Any:
        connection = self._engine.raw_connection()
        connection.detach()
        self._cursor = connection.cursor()
        return self._cursor


class _ServerRows:
    """A server is asked through the pool, which outlives its restart."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")

    def commits(self) -> Version:
        """Which transactions have ended."""
        return self.first(_COMMITS)

    def first(self, query: Query, **values: str) -> Version:
        """The first row of a query."""
        with translated_errors(self._engine), self._engine.connect() as connection:
            row = connection.execute(query, values).first()
        return row and tuple(row)  # pyright: ignore[reportReturnType] - None is a version, too

    def close(self) -> None:
        """The pool is not ours."""
