"""Back up a project and restore it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from steelyard.model.audit import AuditEntry, Caller
from steelyard.ports import AuditLog, Clock, valid_caller
from steelyard.results.backup import BackupSummary


class BackupPort(Protocol):
    """Writes the data of a project."""

    def write(self, out: Path, created_at: str) -> BackupSummary:
        """Make the file; one that is there is refused."""
        ...


class RestorePort(Protocol):
    """Reads a back-up."""

    def restore(self, root: Path, note: Callable[[Path], None]) -> BackupSummary:
        """Make the data folder of a root; `note` is called with its database."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationPorts:
    """What back-ups need."""

    backup: BackupPort
    audit: AuditLog
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePorts:
    """What a restore needs: a file, and the log of the database that it makes."""

    reader: RestorePort
    audit_of: Callable[[Path], AuditLog]
    clock: Clock


def back_up(ports: OperationPorts, out: Path, *, caller: Caller | None = None) -> BackupSummary:
    """Write all data of a project to one file; it is logged."""
    caller = valid_caller(caller)
    now = ports.clock.now().isoformat(timespec="milliseconds")
    ports.audit.add(_entry("back_up", out, now, caller))
    return ports.backup.write(out, now)


def restore(
    ports: RestorePorts, file: Path, root: Path, *, caller: Caller | None = None
) -> BackupSummary:
    """Make the data folder of a project from a back-up; it is logged in that project."""
    caller = valid_caller(caller)
    now = ports.clock.now().isoformat(timespec="milliseconds")
    entry = _entry("restore", file, now, caller)
    return ports.reader.restore(root, lambda database: ports.audit_of(database).add(entry))


def _entry(verb: str, file: Path, at: str, caller: Caller) -> AuditEntry:
    return AuditEntry(at=at, caller=caller, verb=verb, subject=file.name, detail={})
