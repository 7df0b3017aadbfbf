"""The audit log of a project as lists and pages ask for it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from steelyard.model.frozen_struct import FrozenStruct


class AuditQuery(FrozenStruct, frozen=True, kw_only=True):
    """Which changes to list, newest first; what is None restricts nothing."""

    actor: str | None = None
    request_id: str | None = None
    verb: str | None = None
    subject: str | None = None


EVERY_CHANGE = AuditQuery()


class AuditPosition(msgspec.Struct, frozen=True, array_like=True):
    """The last change of a page."""

    sequence: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
