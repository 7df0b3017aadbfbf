"""Prune results past their retention, with records for `verify`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from steelyard.errors import InvalidError
from steelyard.model.audit import AuditEntry, Caller
from steelyard.model.json_value import JsonObject
from steelyard.ports import valid_caller
from steelyard.results.pruned import (
    RAW,
    SUMMARIES,
    PrunedFile,
    PrunedRun,
    PrunedSize,
    PruningReport,
)
from steelyard.results.sealing import Seal
from steelyard.settings import MIN_RAW_DAYS, RetentionSettings, Settings


class Leftovers(NamedTuple):
    """What was removed beside the files and rows of runs."""

    inputs: int = 0
    """Of how many queued runs inputs were left over."""
    objects: int = 0
    """How many objects of a bucket a writer had left who did not seal the run."""


class OldRun(Protocol):
    """A finished run."""

    @property
    def run_id(self) -> str: ...
    @property
    def finished_at(self) -> str: ...
    @property
    def is_left(self) -> bool: ...


class RetentionPort(Protocol):
    """The store of the runs of a project."""

    def finished(self) -> Iterable[OldRun]:
        """Every finished run, oldest first."""
        ...

    def in_use(self) -> Collection[str]:
        """The runs from which unfinished runs are derived."""
        ...

    def artifacts(self, run_id: str) -> Mapping[str, Seal]:
        """The existing sealed files of a run."""
        ...

    def rows(self, run_id: str) -> int:
        """The number of results, scores and attempts in the database."""
        ...

    def note(self, files: Sequence[PrunedFile]) -> None:
        """Durably record the files to be pruned; idempotent."""
        ...

    def forget(self, entry: AuditEntry, files: Sequence[PrunedFile], *, is_last: bool) -> None:
        """Note the files in the database and remove the rows, at last the summary.

        It is logged if anything was there to remove.
        """
        ...

    def remove(self, run_id: str, name: str) -> None:
        """Remove a file."""
        ...

    def remove_folder(self, run_id: str) -> None:
        """Remove the empty folder of a run."""
        ...

    def remove_inputs(self) -> int:
        """Remove inputs of queued runs that have ended or were never made; of how many."""
        ...

    def remove_orphans(self) -> int:
        """Remove what writers who did not win have left of runs that have ended; how much."""
        ...

    def forget_changes(self, before: str, entry: AuditEntry) -> int:
        """Remove entries of the audit log from before a time, and log that; how many."""
        ...

    def settle(self) -> None:
        """Erase deleted rows from the files of the database."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """The files and rows to prune of one run."""

    run_id: str
    finished_at: str
    files: tuple[PrunedFile, ...]
    rows: int
    is_last: bool
    """Whether the summaries go, too."""
    at: str
    """When it goes."""

    @property
    def size(self) -> int:
        """The total size of the files."""
        return sum(file.size for file in self.files)

    def entry(self, caller: Caller) -> AuditEntry:
        """What is logged of it."""
        detail: JsonObject = {
            "files": len(self.files),
            "rows": self.rows,
            "summaries": self.is_last,
        }
        return AuditEntry(
            at=self.at, caller=caller, verb="prune_run", subject=self.run_id, detail=detail
        )


def retention_of(settings: Settings, older_than: int | None = None) -> RetentionSettings:
    """The retention of the project file, with an optional override for raw results."""
    if older_than is None:
        return settings.retention
    if older_than < MIN_RAW_DAYS:
        raise InvalidError(
            f"raw results are kept for {MIN_RAW_DAYS} days or more, not for {older_than}"
        )
    return replace(settings.retention, raw_days=older_than)


def plan_pruning(
    store: RetentionPort, retention: RetentionSettings, now: datetime
) -> list[Pruning]:
    """What can be pruned, per run; never of unfinished runs."""
    in_use = store.in_use()
    planned = (
        _planned(store, run, retention, now)
        for run in store.finished()
        if run.run_id not in in_use
    )
    return [pruning for pruning in planned if pruning]


def _planned(
    store: RetentionPort, run: OldRun, retention: RetentionSettings, now: datetime
) -> Pruning | None:
    age = now - datetime.fromisoformat(run.finished_at)
    if age.days < retention.raw_days:
        return None
    is_last = age.days >= retention.all_days
    names = (*RAW, *SUMMARIES) if is_last else RAW
    there = store.artifacts(run.run_id)
    at = now.isoformat(timespec="milliseconds")
    files = tuple(_file(run.run_id, name, at, there[name]) for name in names if name in there)
    rows = store.rows(run.run_id)
    if not files and not rows and not (is_last and run.is_left):
        return None
    return Pruning(
        run_id=run.run_id,
        finished_at=run.finished_at,
        files=files,
        rows=rows,
        is_last=is_last,
        at=at,
    )


def _file(run_id: str, name: str, at: str, sealed: Seal) -> PrunedFile:
    return PrunedFile(run_id=run_id, name=name, at=at, sha256=sealed.sha256, size=sealed.size)


def prune(
    store: RetentionPort, planned: Iterable[Pruning], *, caller: Caller | None = None
) -> Leftovers:
    """Remove what was planned; wherever this is stopped, it can be done again.

    A file is removed only after it is recorded twice, so that a pruned file is always known.
    """
    caller = valid_caller(caller)
    for pruning in planned:
        store.note(pruning.files)
        store.forget(pruning.entry(caller), pruning.files, is_last=pruning.is_last)
        for file in pruning.files:
            store.remove(pruning.run_id, file.name)
        if pruning.is_last:
            store.remove_folder(pruning.run_id)
    left = Leftovers(inputs=store.remove_inputs(), objects=store.remove_orphans())
    store.settle()
    return left


def prune_audit_log(
    store: RetentionPort,
    retention: RetentionSettings,
    now: datetime,
    *,
    caller: Caller | None = None,
) -> int:
    """Remove entries of the audit log past their retention, if it has one; how many."""
    if retention.audit_days is None:
        return 0
    before = (now - timedelta(days=retention.audit_days)).isoformat(timespec="milliseconds")
    entry = AuditEntry(
        at=now.isoformat(timespec="milliseconds"),
        caller=valid_caller(caller),
        verb="prune_audit_log",
        subject=before,
        detail={},
    )
    return store.forget_changes(before, entry)


def pruning_report(
    planned: Sequence[Pruning], retention: RetentionSettings, *, is_done: bool
) -> PruningReport:
    """What was planned, per run and in all."""
    return PruningReport(
        is_done=is_done,
        raw_days=retention.raw_days,
        summary_days=retention.all_days,
        runs=tuple(
            PrunedRun(
                run_id=pruning.run_id,
                finished_at=pruning.finished_at,
                summaries=pruning.is_last,
                files=tuple(PrunedSize(name=file.name, size=file.size) for file in pruning.files),
                rows=pruning.rows,
            )
            for pruning in planned
        ),
        files=sum(len(pruning.files) for pruning in planned),
        size=sum(pruning.size for pruning in planned),
        rows=sum(pruning.rows for pruning in planned),
    )
