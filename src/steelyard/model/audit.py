"""Who changed what in a project."""

from __future__ import annotations

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject

CANCEL = "cancel_run"
"""The verb under which a request to cancel a run is logged."""


class Caller(FrozenStruct, frozen=True):
    """Who asks for a change, and in which request."""

    actor: str
    request_id: str


class AuditEntry(FrozenStruct, frozen=True, kw_only=True):
    """One change, as the audit log of a project keeps it."""

    at: str
    caller: Caller
    verb: str
    subject: str
    """What was changed: a run, a published version, a judge."""
    detail: JsonObject
    sequence: int = 0
    """Its place in the log, from 1 on; 0 before it is kept."""
