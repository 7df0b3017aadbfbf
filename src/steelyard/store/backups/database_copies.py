"""Copies of the database file for back-ups: made while it is in use, read, and checked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from steelyard.errors import InvalidError
from steelyard.model.run import TERMINAL
from steelyard.results.backup import is_run_id
from steelyard.store.private_files import private
from steelyard.store.tables import login_failures, sessions


def copy_database(source: Path, copy: Path, with_inputs: Iterable[str]) -> None:
    """A consistent copy of a database in use, without logins and without owners of runs.

    Runs for which inputs are kept count as queued in it, also those that have left the queue.
    """
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
            made.executemany(
                f"UPDATE runs SET is_queued = 1 WHERE run_id = ? AND status NOT IN ({ended})",  # noqa: S608 - our own words
                [(run_id,) for run_id in with_inputs],
            )


def copied_runs(copy: Path) -> Iterator[tuple[str, str]]:
    """The id and status of every run in a copy."""
    with closing(sqlite3.connect(copy)) as database:
        yield from database.execute("SELECT run_id, status FROM runs ORDER BY run_id")


def copied_rows(copy: Path, query: str) -> Iterator[tuple[object, ...]]:
    """The rows of a query over a copy."""
    with closing(sqlite3.connect(copy)) as database:
        # Text that is no UTF-8 would be an error of the driver.
        database.text_factory = lambda data: data.decode("utf-8", "backslashreplace")  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType]
        yield from database.execute(query)


def take_from_queue(copy: Path) -> list[str]:
    """Let no worker execute the runs of a copy; those that waited for one or were held by one."""
    with closing(sqlite3.connect(copy)) as database, database:
        for (run_id,) in database.execute("SELECT run_id FROM runs"):
            if not (isinstance(run_id, str) and is_run_id(run_id)):
                raise InvalidError(
                    f"the database of the back-up has a run {str(run_id)[:200]!r}, which is no id "
                    "of a run; nothing was restored"
                )
        ended = ", ".join(f"'{state}'" for state in sorted(TERMINAL))
        found = database.execute(
            f"SELECT run_id FROM runs WHERE is_queued AND status NOT IN ({ended})"  # noqa: S608 - our own words
        )
        queued = [run_id for (run_id,) in found]
        database.execute("UPDATE runs SET is_queued = 0")
        return queued


def is_sound(copy: Path) -> bool:
    """Whether the database finds no fault in a copy."""
    try:
        with closing(sqlite3.connect(copy)) as database:
            return database.execute("PRAGMA quick_check").fetchone() == ("ok",)
    except sqlite3.Error:
        return False
