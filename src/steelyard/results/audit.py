"""The audit log of a project as lists and pages ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery:
    """Which changes to list, newest first; what is None restricts nothing."""

    actor: str | None = None
    request_id: str | None = None
    verb: str | None = None
    subject: str | None = None


EVERY_CHANGE = AuditQuery()


class AuditPosition(msgspec.Struct, frozen=True, array_like=True):
    """The last change of a page."""

    sequence: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
