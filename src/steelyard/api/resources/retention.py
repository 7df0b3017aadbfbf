"""Retention: remove results that are old enough."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.results.pruned import PruningReport
from steelyard.settings import MIN_RAW_DAYS
from steelyard.usecases.runs.prune import (
    plan_pruning,
    prune,
    prune_audit_log,
    pruning_report,
    retention_of,
)

_MOST_DAYS = 100_000
_AGE = "Prune raw results older than so many days, whatever the project file says."
Days = Annotated[int, Meta(ge=MIN_RAW_DAYS, le=_MOST_DAYS, description=_AGE)]


class PruneBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to prune."""

    days: Days | None = None
    """Raw results older than this, in place of the retention of the project."""
    dry_run: Annotated[bool, Meta(description="Only list what would be pruned.")] = False


def _prune(call: Call[NoQuery, PruneBody]) -> JsonReply:
    """Remove raw results and summaries past their retention.

    Raw results are kept for 30 days or more and summaries for 180 days or more, whatever is asked.
    """
    project, asked = call.project, call.body
    retention = retention_of(project.settings, asked.days)
    with closing(project.retention_store()) as store:
        planned = plan_pruning(store, retention, project.clock.now())
        if not asked.dry_run:
            prune_audit_log(store, retention, project.clock.now(), caller=call.caller)
            prune(store, planned, caller=call.caller)
    return JsonReply(body=pruning_report(planned, retention, is_done=not asked.dry_run))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path="/v1/prune",
        summary="Prune results past their retention.",
        scope="admin",
        handle=_prune,
        body=PruneBody,
        answers={200: PruningReport},
    ),
)
