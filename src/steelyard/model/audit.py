"""Who changed what in a project."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.model.json_value import JsonObject

CANCEL = "cancel_run"
"""The verb under which a request to cancel a run is logged."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for a change, and in which request."""

    actor: str
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One change, as the audit log of a project keeps it."""

    at: str
    caller: Caller
    verb: str
    subject: str
    """What was changed: a run, a published version, a judge."""
    detail: JsonObject
    sequence: int = 0
    """Its place in the log, from 1 on; 0 before it is kept."""
