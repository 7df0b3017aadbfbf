"""The row of a run in the database, and what it stands for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from steelyard.model.json_value import JsonObject
from steelyard.model.run import RunState
from steelyard.results.plan import read_plan
from steelyard.results.stored_run import StoredRun

if TYPE_CHECKING:
    from sqlalchemy import Row


def stored_run(row: Row[tuple[object, ...]]) -> StoredRun:
    """The run that a row stands for."""
    return StoredRun(
        run_id=row.run_id,
        status=cast(RunState, row.status),
        created_at=row.created_at,
        dataset=row.dataset,
        target=row.target,
        group_id=row.group_id,
        owner=row.owner,
        fence=row.fence,
        lease_left_s=row.lease_left_s,
        is_cancelling=bool(row.cancel_requested),
        is_queued=bool(row.is_queued),
        plan=read_plan(row.plan),
        summary=json.loads(row.summary) if row.summary else None,
    )


def encoded(value: JsonObject) -> bytes:
    """A value of such a row, in ASCII, so that a path of odd bytes comes back as it was."""
    return json.dumps(value).encode("ascii")
