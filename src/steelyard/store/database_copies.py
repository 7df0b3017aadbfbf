"""Copies of the database file for back-ups: made while it is in use, read, and checked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from steelyard.model.run import TERMINAL
from steelyard.store.private_files import private
from steelyard.store.tables import login_failures, sessions


def copy_database(source: Path, copy: Path) -> None:
    """A consistent copy of a database in use, without logins and without owners of runs."""
    with open(copy, "xb", opener=private):
        pass
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(copy)) as made:
        live.backup(made)  # in one step: of several, each change in between begins it anew
        made.execute("PRAGMA journal_mode=DELETE")
        made.execute("PRAGMA secure_delete=ON")
        with made:
            for table in (sessions.name, login_failures.name):
                made.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own tables
            ended = ", ".join(f"'{state}'" for state in sorted(TERMINAL))
            # Their processes work on the original.
            made.execute(
                "UPDATE runs SET owner = NULL, lease_until = NULL "  # noqa: S608 - our own words
                f"WHERE status NOT IN ({ended})"
            )


def copied_runs(copy: Path) -> Iterator[tuple[str, str]]:
    """The id and status of every run in a copy."""
    with closing(sqlite3.connect(copy)) as database:
        yield from database.execute("SELECT run_id, status FROM runs ORDER BY run_id")


def is_sound(copy: Path) -> bool:
    """Whether the database finds no fault in a copy."""
    try:
        with closing(sqlite3.connect(copy)) as database:
            return database.execute("PRAGMA quick_check").fetchone() == ("ok",)
    except sqlite3.Error:
        return False
