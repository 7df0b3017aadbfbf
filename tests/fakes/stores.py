"""Where the stores of a test are: in files, or on the PostgreSQL server of the session."""

from __future__ import annotations

import os
from collections.abc import Generator, MutableMapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import event
from sqlalchemy.pool import Pool

from servers.postgres import postgres
from steelyard.store.database import open_database

if TYPE_CHECKING:
    from sqlalchemy import Engine

SETTING = "STEELYARD_STORE"
_PROJECT = ".steelyard"


class _Stores:
    """The databases of one test beside that of its projects: one for each path."""

    def __init__(self, made: ExitStack) -> None:
        self._made = made
        self._known: dict[Path, str] = {}

    def address(self, path: Path) -> str:
        """The address of the database that stands for a file."""
        if path not in self._known:
            self._known[path] = self._unused() or self._made.enter_context(postgres().store())
        return self._known[path]

    def _unused(self) -> str | None:
        """The emptied database of a path that is gone by now."""
        gone = next((path for path in self._known if not path.parent.exists()), None)
        if gone is None:
            return None
        address = self._known.pop(gone)
        postgres().empty(address)
        return address


_current: list[_Stores] = []


@contextmanager
def stores_on_server(environ: MutableMapping[str, str]) -> Generator[None]:
    """Have every store on the server, also those of projects and of processes."""
    with ExitStack() as made:
        environ[SETTING] = made.enter_context(postgres().store())
        connections: list[Any] = []

        def note(connection: Any, _record: object) -> None:
            connections.append(connection)

        event.listen(Pool, "connect", note)
        _current.append(_Stores(made))
        made.callback(_current.pop)
        made.callback(environ.pop, SETTING, None)
        try:
            yield
        finally:
            event.remove(Pool, "connect", note)
            # A test need not close what is a file otherwise.
            for connection in connections:
                connection.close()


def open_store(path: Path) -> Engine:
    """The store of a test at a path; a process of its own knows that of a project alone."""
    if path.parent.name == _PROJECT:
        return open_database(os.environ.get(SETTING) or path)
    return open_database(_current[-1].address(path) if _current else path)
