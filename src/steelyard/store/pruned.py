"""The store behind `prune`: notes first, then rows of the database, then files."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sqlalchemy import (
    Connection,
    Delete,
    Engine,
    Select,
    Table,
    Update,
    delete,
    func,
    insert,
    select,
    update,
)

from steelyard.errors import RunError
from steelyard.model.audit import AuditEntry
from steelyard.model.run import TERMINAL
from steelyard.results.pruned import PRUNED, PrunedFile, pruned_line, read_pruned
from steelyard.results.sealing import Seal
from steelyard.store.artifacts import sync_folder
from steelyard.store.audit_log import add_entry
from steelyard.store.database import empty_log, translated_errors
from steelyard.store.dialects import overwrite_deleted
from steelyard.store.private_files import private
from steelyard.store.sealed_runs import DiskRuns, SealedRuns
from steelyard.store.spool.run_inputs import InputFolder
from steelyard.store.tables import (
    answered,
    answers,
    attempts,
    audit_log,
    judgements,
    parts,
    pruned,
    results,
    runs,
    scores,
    states,
)

_RAW_TABLES = (scores, results, attempts, answers, answered, judgements, parts)
_RUN_ID = re.compile(rb"run_[0-9A-Z]{26}")
_NO_PLAN = b"{}"
_NEVER_SEALED = {None, b"{}"}
"""The summary of a run that is pruned as a whole, and of one that failed before it was sealed."""
_HAS_SUMMARY = runs.c.summary.is_not(None) | (runs.c.plan != _NO_PLAN)


class PrunableRun(NamedTuple):
    """A run that has ended."""

    run_id: str
    finished_at: str
    is_left: bool
    """Whether there is more of it than its line: a summary, or a folder without artifacts."""


class RetentionStore:
    """The runs of a project: its database, its artifacts and its notes."""

    def __init__(
        self,
        engine: Engine,
        folder: Path,
        sealed: SealedRuns | None = None,
        inputs: InputFolder | None = None,
    ) -> None:
        self._engine = engine
        self._folder = folder
        self._sealed = sealed or DiskRuns(folder / "runs")
        self._inputs = inputs or InputFolder(folder)
        self._noted: set[tuple[str, str]] | None = None

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def finished(self) -> list[PrunableRun]:
        """Every run that nothing can follow, the oldest first."""
        last = select(states.c.at).where(states.c.run_id == runs.c.run_id)
        last = last.order_by(states.c.step.desc()).limit(1).scalar_subquery()
        query = select(runs.c.run_id, last.label("at"), _HAS_SUMMARY.label("has_summary"))
        query = query.where(runs.c.status.in_(TERMINAL)).order_by(runs.c.created_at, runs.c.run_id)
        with self._transaction() as connection:
            found = connection.execute(query).all()
        return [
            PrunableRun(row.run_id, row.at, row.has_summary or self._sealed.is_empty(row.run_id))
            for row in found
        ]

    def in_use(self) -> set[str]:
        """The runs that others, which have not ended, are made from."""
        query = select(runs.c.plan).where(runs.c.status.not_in(TERMINAL))
        with self._transaction() as connection:
            plans = [row.plan for row in connection.execute(query)]
        return {found.decode("ascii") for plan in plans for found in _RUN_ID.findall(plan)}

    def artifacts(self, run_id: str) -> dict[str, Seal]:
        """The files of a run that are there, as they were sealed."""
        return self._sealed.there(run_id)

    def rows(self, run_id: str) -> int:
        """How many results, scores and attempts the database holds."""
        with self._transaction() as connection:
            return sum(
                connection.execute(_count(table, run_id)).scalar_one() for table in _RAW_TABLES
            )

    def note(self, files: Sequence[PrunedFile]) -> None:
        """Append lines to the notes and sync them; what is noted already is not noted twice."""
        known = self._known()
        new = [file for file in files if (file.run_id, file.name) not in known]
        if not new:
            return
        path = self._folder / PRUNED
        try:
            with open(path, "a+b", opener=private) as stream:
                stream.write(_line_end(stream) + b"".join(map(pruned_line, new)))
                stream.flush()
                os.fsync(stream.fileno())
            sync_folder(self._folder)
        except OSError as error:
            raise RunError(f"cannot write {path}: {error.strerror}; nothing was removed") from None
        known.update((file.run_id, file.name) for file in new)
        self._sealed.note(new)

    def forget(self, entry: AuditEntry, files: Sequence[PrunedFile], *, is_last: bool) -> None:
        """Note the files in the database and remove the rows, at last the summary.

        It is logged if anything was there to remove.
        """
        run_id = entry.subject
        with self._transaction() as connection:
            overwrite_deleted(connection)
            query = select(pruned.c.name).where(pruned.c.run_id == run_id)
            known = set(connection.execute(query).scalars())
            for file in files:
                if file.name not in known:
                    row = {"run_id": run_id, "name": file.name, "at": file.at}
                    connection.execute(insert(pruned), row)
            changes: list[Delete | Update] = [
                delete(table).where(table.c.run_id == run_id) for table in _RAW_TABLES
            ]
            if is_last:
                query = update(runs).where(runs.c.run_id == run_id, _HAS_SUMMARY)
                changes.append(query.values(summary=None, plan=_NO_PLAN))
            changed = sum(connection.execute(change).rowcount for change in changes)
            if changed or self._sealed.there(run_id).keys() & {file.name for file in files}:
                add_entry(connection, entry)

    def remove(self, run_id: str, name: str) -> None:
        """Remove a file."""
        self._sealed.remove(run_id, name)

    def remove_folder(self, run_id: str) -> None:
        """Remove the folder of a run that has no files but drafts; any other it leaves alone."""
        self._sealed.remove_folder(run_id)

    def remove_orphans(self) -> int:
        """Remove what writers who did not win have left of runs that have ended; how much."""
        query = select(runs.c.run_id, runs.c.summary).where(runs.c.status.in_(TERMINAL))
        with self._transaction() as connection:
            ended = {row.run_id: row.summary for row in connection.execute(query)}
        sealed = {run_id for run_id, summary in ended.items() if summary not in _NEVER_SEALED}
        return self._sealed.remove_orphans(ended, sealed)

    def remove_inputs(self) -> int:
        """Remove inputs of queued runs that have ended or were never made; of how many."""
        query = select(runs.c.run_id).where(runs.c.status.not_in(TERMINAL))
        with self._transaction() as connection:
            waiting = set(connection.execute(query).scalars())
        unused = set(self._inputs.left()) - waiting
        for run_id in unused:
            self._inputs.delete(run_id)
        return len(unused)

    def forget_changes(self, before: str, entry: AuditEntry) -> int:
        """Remove entries of the audit log from before a time, and log that; how many."""
        is_old = audit_log.c.at < before
        with self._transaction() as connection:
            overwrite_deleted(connection)
            count = connection.execute(select(func.count()).where(is_old)).scalar_one()
            if count:
                # First: it takes the next number, which the last of the old ones has set.
                add_entry(connection, replace(entry, detail={"entries": count}))
                connection.execute(delete(audit_log).where(is_old))
        return count

    def settle(self) -> None:
        """Leave nothing of what was removed in the log of the database."""
        empty_log(self._engine)

    @contextmanager
    def _transaction(self) -> Generator[Connection]:
        with translated_errors(self._engine), self._engine.begin() as connection:
            yield connection

    def _known(self) -> set[tuple[str, str]]:
        if self._noted is None:
            path = self._folder / PRUNED
            lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
            self._noted = {(file.run_id, file.name) for file in read_pruned(lines)}
        return self._noted


def _line_end(stream: BinaryIO) -> bytes:
    """What ends the last line of a file; one that a power cut tore has no end of its own."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - 1))
    return b"" if stream.read() in {b"", b"\n"} else b"\n"


def _count(table: Table, run_id: str) -> Select[int]:
    return select(func.count()).select_from(table).where(table.c.run_id == run_id)
