"""Runs side by side: a paired comparison of two, and the runs of a group."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from steelyard.api.call import Call, JsonReply
from steelyard.api.compared_runs import compared_runs
from steelyard.api.operation import Operation
from steelyard.api.paging import PageQuery
from steelyard.api.resources.runs import RunBody, run_body
from steelyard.api.shown_results import ShownResults, shown_summaries
from steelyard.errors import NotFoundError
from steelyard.model.statistics.comparison import (
    Basis,
    Comparison,
    CorrectedDifference,
    Difference,
    Dropped,
    Mismatch,
    Moved,
    Side,
    SliceDifference,
    Verdict,
)
from steelyard.model.statistics.detection import Detectable
from steelyard.reports.comparison.comparison_text import comparison_json
from steelyard.results.runs import RunQuery
from steelyard.usecases.results.compare import refuse_unlike
from steelyard.usecases.results.runs import list_runs, show_run

RunName = Annotated[str, msgspec.Meta(min_length=1, description="A finished run.")]


class CompareQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which runs to compare."""

    a: RunName
    b: RunName
    strict: Annotated[
        bool, msgspec.Meta(description="Refuse runs that do not measure the same.")
    ] = False


class ComparisonBody(msgspec.Struct, frozen=True, kw_only=True):
    """Whether B is better than A, and what that rests on."""

    a: Side
    b: Side
    verdict: Verdict
    basis: Basis
    reason: str | None
    raw_verdict: Verdict
    corrected_verdict: Verdict | None
    pairs: int
    comparable: bool
    gate: dict[str, Any] | None
    not_alike: list[Mismatch]
    dropped: Dropped
    passes: Difference
    scores: Difference
    filled: Difference | None
    favoured: Difference | None
    improvements: list[Moved]
    regressions: list[Moved]
    slices: list[SliceDifference]
    detectable: Detectable | None
    corrected: CorrectedDifference | None
    unadjusted: Difference | None
    unadjusted_corrected: CorrectedDifference | None
    unadjusted_filled: Difference | None
    unadjusted_favoured: Difference | None


class GroupBody(msgspec.Struct, frozen=True):
    """The runs that were started together."""

    group_id: str
    """The group."""
    data: list[RunBody]
    """Its runs on this page, newest first."""
    next_cursor: str | None
    """`cursor` for the next page; null on the last one."""


def _compare(call: Call[CompareQuery, None]) -> JsonReply:
    """Compare run B with run A over the records that both have scored.

    The body is what `steelyard compare` prints as JSON. Where there are no pairs, the
    verdict is "cannot be compared".
    """
    asked = call.query
    found = compared_runs(call.served, asked.a, asked.b).found
    if asked.strict:
        refuse_unlike(found)
    return JsonReply(body=comparison_json(found), shown=compared_records(found))


def compared_records(found: Comparison) -> tuple[ShownResults, ...]:
    """All records of both runs: one that is not among those that differ has the same verdict."""
    if not found.passes.n:
        return ()
    return ShownResults(found.a.run_id, None), ShownResults(found.b.run_id, None)


def _group(call: Call[PageQuery, None]) -> JsonReply:
    """List the runs of a group, newest first."""
    group_id, store = call.path["group_id"], call.project.store
    query = RunQuery(group_id=group_id)
    page = list_runs(store, query, cursor=call.query.cursor, limit=call.query.limit)
    if not page.runs and call.query.cursor is None:
        raise NotFoundError(f"no group '{group_id}' in this project")
    bodies = [run_body(call.project, show_run(store, run.run_id)) for run in page.runs]
    body = GroupBody(group_id, bodies, page.next_cursor)
    return JsonReply(body=body, shown=shown_summaries(page.runs))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/compare",
        summary="Compare two runs.",
        scope="runs:read",
        handle=_compare,
        query=CompareQuery,
        answers={200: ComparisonBody},
        errors=(404, 409, 410),
    ),
    Operation(
        method="GET",
        path="/v1/groups/{group_id}",
        summary="Show a group of runs.",
        scope="runs:read",
        handle=_group,
        query=PageQuery,
        answers={200: GroupBody},
        errors=(404,),
    ),
)
