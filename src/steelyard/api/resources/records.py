"""The records of a run, with their attempts, failures, metrics and slices."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, structs

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery, page_of
from steelyard.api.shown_results import shown_list, shown_rows, shown_slices, shown_summaries
from steelyard.errors import ConflictError, GoneError, NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.results.artifacts import SLICES
from steelyard.results.attempts import Attempt
from steelyard.results.failures import Failure
from steelyard.results.metrics import Metrics, Slice
from steelyard.results.predictions import Prediction
from steelyard.results.records import MAX_COUNT, Count, RecordQuery, RecordView
from steelyard.usecases.results.records import (
    Records,
    list_attempts,
    list_failures,
    list_predictions,
    parse_sort,
    show_record,
)
from steelyard.usecases.results.sealed_files import sealed_json_file, stored_records

RecordStatus: TypeAlias = Literal[
    "evaluated", "invalid_record", "timeout", "evaluation_error", "cancelled", "skipped"
]
FailureStatus: TypeAlias = Literal["invalid_record", "timeout", "evaluation_error", "cancelled"]
RecordOrder: TypeAlias = Literal[
    "index",
    "-index",
    "status",
    "-status",
    "passed",
    "-passed",
    "score",
    "-score",
    "label",
    "-label",
    "latency",
    "-latency",
    "tokens",
    "-tokens",
    "cost",
    "-cost",
    "verdict",
    "-verdict",
]
RecordId = Annotated[str, Meta(description="The id of a record in its dataset.")]
Label = Annotated[str, Meta(description="The label of a failure.")]
Repeat = Annotated[Count, Meta(description="The repeat, from 0 on.")]


class RecordsQuery(PageQuery, frozen=True, forbid_unknown_fields=True):
    """Which records of a run to list."""

    record_id: RecordId | None = None
    status: RecordStatus | None = None
    """Only records with this status."""
    passed: Annotated[
        bool | None,
        Meta(description="Whether the record has passed; with `check`, whether that check has."),
    ] = None
    check: Annotated[str | None, Meta(description="A check that has graded the record.")] = None
    tag: Annotated[str | None, Meta(description="A tag of the record.")] = None
    label: Label | None = None
    q: Annotated[
        str | None, Meta(description="A part of the id, the question, the answer or the reason.")
    ] = None
    sort: Annotated[RecordOrder, Meta(description="The order; `-` reverses it.")] = "index"


class FailuresQuery(PageQuery, frozen=True, forbid_unknown_fields=True):
    """Which failures of a run to list."""

    record_id: RecordId | None = None
    status: FailureStatus | None = None
    """Only failures with this status."""
    label: Label | None = None


class RepeatQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which repeat of a record to show."""

    repeat: Repeat = 0


class AttemptsQuery(PageQuery, frozen=True, forbid_unknown_fields=True):
    """Which attempts of a record to list: of all repeats, or of one."""

    repeat: Repeat | None = None


class RecordBody(Prediction, frozen=True, kw_only=True):
    """One record in one repeat, with why it failed and what judges were asked and said."""

    failure: Failure | None
    """Why it has no score; null where it has one."""
    judgements: list[dict[str, Any]]
    """What judges were asked, and what they answered."""


def _list(call: Call[RecordsQuery, None]) -> JsonReply:
    """The rows are those of `predictions.jsonl`. A run that is not finished shows what it has."""
    asked = call.query
    query = RecordQuery(
        record_id=asked.record_id,
        status=asked.status,
        passed=asked.passed,
        check=asked.check,
        tag=asked.tag,
        label=asked.label,
        text=asked.q,
        sort=parse_sort(asked.sort),
    )
    # By its id: `latest` is another run later on.
    run_id = _run_id(call)
    records = stored_records(call.project.result_ports(), run_id)
    page = list_predictions(records, query, cursor=asked.cursor, limit=asked.limit)
    indices = [row.index for row in page.rows]
    is_part = bool(asked.cursor or page.next_cursor)
    shown = shown_list(run_id, query, records, indices, is_part=is_part)
    return JsonReply(body=Page(list(page.rows), page.next_cursor), shown=(shown,))


def _show(call: Call[RepeatQuery, None]) -> JsonReply:
    """The row of `predictions.jsonl`, with why the record failed and what judges were asked."""
    index, repeat, run_id = _index(call), call.query.repeat, _run_id(call)
    found = show_record(stored_records(call.project.result_ports(), run_id), index, repeat)
    if not found.rows:
        raise NotFoundError(f"record {index} has no result yet")
    shown = shown_rows(run_id, [index])
    return JsonReply(body=record_body(found, found.rows[0]), shown=(shown,))


def record_body(found: RecordView, row: Prediction) -> RecordBody:
    """One repeat of a record, with what is known of it alone."""
    return RecordBody(
        **structs.asdict(row),
        failure=found.failures.get(row.place),
        judgements=[dict(one) for one in found.judgements if one["repeat"] == row.repeat],
    )


def _attempts(call: Call[AttemptsQuery, None]) -> JsonReply:
    """The rows are those of `attempt_logs.jsonl`: calls to the target, then those to judges."""
    asked = call.query
    page = list_attempts(
        _records(call), _index(call), asked.repeat, cursor=asked.cursor, limit=asked.limit
    )
    return JsonReply(body=Page(list(page.rows), page.next_cursor))


def _failures(call: Call[FailuresQuery, None]) -> JsonReply:
    """The rows are those of `failures.jsonl`."""
    asked = call.query
    query = RecordQuery(record_id=asked.record_id, status=asked.status, label=asked.label)
    page = list_failures(_records(call), query, cursor=asked.cursor, limit=asked.limit)
    return JsonReply(body=Page(list(page.rows), page.next_cursor))


def _metrics(call: Call[NoQuery, None]) -> JsonReply:
    """The content of `metrics_summary.json`. A run has none before it ends."""
    run = call.project.store.find(call.path["run_id"])
    if run.summary is not None:
        return JsonReply(body=run.summary, shown=shown_summaries([run]))
    if run.plan is None:
        raise GoneError(f"the results of {run.run_id} were pruned")
    raise ConflictError(f"{run.run_id} is {run.status}; it has no metrics")


def _slices(call: Call[PageQuery, None]) -> JsonReply:
    """The entries are those of `metrics_by_slice.json`. A run has none before it ends."""
    content = sealed_json_file(call.project.result_ports(), call.path["run_id"], SLICES)
    page = page_of(cast("list[JsonObject]", content["slices"]), _slice_id, call.query)
    shown = shown_slices(_run_id(call), msgspec.convert(page.data, list[Slice]))
    return JsonReply(body=page, shown=(shown,))


def _slice_id(one: JsonObject) -> str:
    """The field and its value, of which one may contain what separates them in a name."""
    return json.dumps([one["slice"], one["value"]])


def _records(call: Call[Any, None]) -> Records:
    return stored_records(call.project.result_ports(), call.path["run_id"])


def _run_id(call: Call[Any, None]) -> str:
    return call.project.store.find(call.path["run_id"]).run_id


def _index(call: Call[Any, None]) -> int:
    return record_index(call.path["index"])


def record_index(text: str) -> int:
    """The index that an address names."""
    is_index = text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_COUNT))
    if not is_index or str(int(text)) != text:
        raise NotFoundError(f"'{text}' is no index of a record; the first one is 0")
    return int(text)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/runs/{run_id}/records",
        summary="List the records of a run, each with its result.",
        scope="runs:read",
        handle=_list,
        query=RecordsQuery,
        answers={200: Page[Prediction]},
        errors=(404, 409, 410),
        is_kept=True,
    ),
    Operation(
        method="GET",
        path="/v1/runs/{run_id}/records/{index}",
        summary="Show a record.",
        scope="runs:read",
        handle=_show,
        query=RepeatQuery,
        answers={200: RecordBody},
        errors=(404, 409, 410),
        is_kept=True,
    ),
    Operation(
        method="GET",
        path="/v1/runs/{run_id}/records/{index}/attempts",
        summary="List the attempts of a record.",
        scope="runs:read",
        handle=_attempts,
        query=AttemptsQuery,
        answers={200: Page[Attempt]},
        errors=(404, 409, 410),
    ),
    Operation(
        method="GET",
        path="/v1/runs/{run_id}/failures",
        summary="List the failures of a run.",
        scope="runs:read",
        handle=_failures,
        query=FailuresQuery,
        answers={200: Page[Failure]},
        errors=(404, 409, 410),
    ),
    Operation(
        method="GET",
        path="/v1/runs/{run_id}/metrics",
        summary="Show the metrics of a run.",
        scope="runs:read",
        handle=_metrics,
        answers={200: Metrics},
        errors=(404, 409, 410),
    ),
    Operation(
        method="GET",
        path="/v1/runs/{run_id}/slices",
        summary="List the slices of a run, each with its metrics.",
        scope="runs:read",
        handle=_slices,
        query=PageQuery,
        answers={200: Page[Slice]},
        errors=(404, 409, 410),
    ),
)
