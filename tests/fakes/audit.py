"""Callers, and an audit log that a test looks into."""

from __future__ import annotations

from steelyard.model.audit import AuditEntry, Caller

ANN = Caller("ann", "req_1")


def an_entry(at: str = "2026-01-15", *, subject: str = "run_1") -> AuditEntry:
    """A change that Ann makes."""
    return AuditEntry(at=at, caller=ANN, verb="change", subject=subject, detail={})


class GatheredLog:
    """Keeps changes in a list."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    def add(self, entry: AuditEntry) -> None:
        """Keep one."""
        self.entries.append(entry)
