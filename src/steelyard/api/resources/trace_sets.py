"""Trace sets: fill one from a file, list them, read their traces, and judge them."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery, page_of
from steelyard.api.resources.run_changes import queued_run
from steelyard.api.resources.uploads import MAX_JSON, in_turn, received
from steelyard.contracts.trace.writer import trace_row
from steelyard.errors import InvalidError
from steelyard.model.names import require_name
from steelyard.model.trace_set import TraceSet
from steelyard.usecases.datasets.uploads import SentFiles, Upload, upload_refusal
from steelyard.usecases.judges.judge_traces import judge_traces
from steelyard.usecases.runs.posted_runs import require_reference
from steelyard.usecases.traces.add_traces import ENDINGS, add_trace_file
from steelyard.usecases.traces.assembled_traces import (
    AssembledTrace,
    list_trace_sets,
    list_traces,
    show_trace,
    show_trace_set,
)
from steelyard.usecases.traces.delete_trace_set import delete_trace_set


class TraceSetBody(msgspec.Struct, frozen=True):
    """Traces that are reviewed and judged together."""

    name: str
    """What the set is called, here and as the dataset of its runs."""
    created_at: str
    """When its first trace arrived."""
    traces: int
    """How many traces it has."""
    spans: int
    """How many spans they have together; a trace from a file counts as one."""
    last_received_at: str | None
    """When its newest trace began to arrive."""


class FileQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the traces of a file go."""

    trace_set: str
    """The name of the set; one that is not there yet is made."""
    name: str | None = None
    """The name of the file; its ending says how it is read."""


class UnreadBody(msgspec.Struct, frozen=True):
    """A part of a file that did not become a trace."""

    place: str
    """Where in the file."""
    reason: str
    """Why."""


class AddedBody(msgspec.Struct, frozen=True):
    """What became of the traces of a file."""

    trace_set: str
    """The set that they are in."""
    new: int
    """Traces, or spans of OpenTelemetry, that are new."""
    known: int
    """Those that the set has already; they stay as they are."""
    left_out: int
    """Those that are no traces."""
    first_left_out: list[UnreadBody]
    """The first hundred of these, with the reasons."""


class TraceSummary(msgspec.Struct, frozen=True):
    """A trace of a set, without what is said in it."""

    trace_id: str
    """32 hexadecimal digits."""
    received_at: str
    """When its first span arrived."""
    spans: int
    """How many spans it has."""
    has_root: bool
    """Whether the span has arrived that no other one holds; until then, others may be missing."""
    record_id: str | None
    """The record that it answers, where it says so, or else its own id."""
    conversation_id: str | None
    """The conversation or session that it is a part of."""
    model: str | None
    """The model that answered last."""
    turns: int
    """How many messages of the assistant it has."""
    tool_calls: int
    """How many tool calls it has."""
    input_tokens: int | None
    """Tokens that went in."""
    output_tokens: int | None
    """Tokens that came out."""
    latency_ms: float | None
    """How long it took."""
    error: str | None
    """Why it failed, where it did."""
    left_out: str | None
    """Why it cannot be reviewed and judged, where that is so."""
    notes: list[str]
    """What its spans hold that is no part of it, such as the words of evaluators."""


class TraceBody(TraceSummary, frozen=True):
    """A trace of a set."""

    trace: dict[str, Any] | None
    """Messages, tool calls, usage and timing, in the form of the trace schema."""


class JudgeBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What grades the traces."""

    rubric: str
    """A reference such as rubric/polite@1.0."""
    judge: str | None = None
    """The judge that replaces the usual one."""


class JudgedSet(msgspec.Struct, frozen=True):
    """The run that grades the traces that a set has now."""

    run_id: str
    """The new run; read its results like those of any run."""
    status: str
    """Its state when the request was accepted."""
    records: int
    """How many traces it grades."""
    left_out: dict[str, int]
    """How many traces it does not grade, by the reason."""


async def _add(call: Call[FileQuery, None]) -> JsonReply:
    """The body is the file: an export of OpenTelemetry in JSON, a log of Inspect (`.json` or
    `.eval`), recorded responses, or traces; one document, a list, or one object a line. The same
    file a second time adds nothing.
    """
    asked = call.query

    def work(upload: Upload) -> JsonReply:
        if refusal := upload_refusal(upload, has_records=False):
            raise InvalidError(refusal)
        added = add_trace_file(
            *(call.project.trace_ports(), SentFiles(upload), upload.path, asked.trace_set),
            caller=call.caller,
        )
        unread = [UnreadBody(one.place, one.reason) for one in added.first_left_out]
        body = AddedBody(asked.trace_set, added.new, added.known, added.left_out, unread)
        return JsonReply(body=body, status=201)

    async with received(call.request, asked.name, "traces", MAX_JSON, ENDINGS) as upload:
        return await in_turn(upload, work)


def _list(call: Call[PageQuery, None]) -> JsonReply:
    found = list_trace_sets(call.project.trace_ports())
    page = page_of(found, lambda one: one.name, call.query)
    return JsonReply(body=Page([_set_body(one) for one in page.data], page.next_cursor))


def _show(call: Call[NoQuery, None]) -> JsonReply:
    return JsonReply(body=_set_body(show_trace_set(call.project.trace_ports(), _name(call))))


def _traces(call: Call[PageQuery, None]) -> JsonReply:
    asked = call.query
    page = list_traces(
        call.project.trace_ports(), _name(call), cursor=asked.cursor, limit=asked.limit
    )
    bodies = [TraceSummary(**_summary(one)) for one in page.traces]
    return JsonReply(body=Page(bodies, page.next_cursor))


def _trace(call: Call[NoQuery, None]) -> JsonReply:
    one = show_trace(call.project.trace_ports(), _name(call), call.path["trace_id"])
    trace = trace_row(one.trace) if one.trace else None
    return JsonReply(body=TraceBody(**_summary(one), trace=trace))


def _judge(call: Call[NoQuery, JudgeBody]) -> JsonReply:
    """No target is called: a run over the traces that the set has now, whose records are graded
    by the rubric. Traces that arrive later are not in it.
    """
    asked = call.body
    for part, given in (("rubric", asked.rubric), ("judge", asked.judge)):
        if given is not None:
            require_name(part, given)
            require_reference(part, given)
    ports = call.project.trace_ports()
    show_trace_set(ports, _name(call))
    made = queued_run(
        lambda: judge_traces(
            *(ports, call.project.run_ports(), _name(call), asked.rubric),
            judge=asked.judge,
            caller=call.caller,
        )
    )
    frozen = made.frozen
    body = JudgedSet(made.run.run_id, made.run.status, frozen.records, dict(frozen.left_out))
    return JsonReply(body=body, status=202)


def _delete(call: Call[NoQuery, None]) -> Response:
    """Its traces are deleted for good. Runs that have graded them stay as they are."""
    delete_trace_set(call.project.trace_ports(), _name(call), caller=call.caller)
    return Response(status_code=204)


def _name(call: Call[Any, Any]) -> str:
    return call.path["trace_set"]


def _set_body(one: TraceSet) -> TraceSetBody:
    return TraceSetBody(
        name=one.name,
        created_at=one.created_at,
        traces=one.traces,
        spans=one.spans,
        last_received_at=one.last_received_at,
    )


def _summary(one: AssembledTrace) -> dict[str, Any]:
    row, trace = one.row or {}, one.trace
    return {
        "trace_id": one.trace_id,
        "received_at": one.received_at,
        "spans": one.spans,
        "has_root": one.has_root,
        "record_id": row.get("record_id"),
        "conversation_id": one.conversation_id,
        "model": trace.model if trace else None,
        "turns": sum(one.role == "assistant" for one in trace.messages) if trace else 0,
        "tool_calls": sum(len(one.tool_calls) for one in trace.messages) if trace else 0,
        "input_tokens": trace.usage.input_tokens if trace else None,
        "output_tokens": trace.usage.output_tokens if trace else None,
        "latency_ms": trace.latency_ms if trace else None,
        "error": row.get("message"),
        "left_out": one.left_out,
        "notes": [*one.notes],
    }


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path="/v1/trace-sets",
        summary="Add the traces of a file to a set.",
        scope="traces:write",
        handle=_add,
        query=FileQuery,
        streamed={
            "application/json": None,
            "application/x-ndjson": None,
            "application/octet-stream": None,
        },
        answers={201: AddedBody},
        max_body=MAX_JSON,
    ),
    Operation(
        method="GET",
        path="/v1/trace-sets",
        summary="List trace sets by name.",
        scope="runs:read",
        handle=_list,
        query=PageQuery,
        answers={200: Page[TraceSetBody]},
    ),
    Operation(
        method="GET",
        path="/v1/trace-sets/{trace_set}",
        summary="Show a trace set.",
        scope="runs:read",
        handle=_show,
        answers={200: TraceSetBody},
        errors=(404,),
    ),
    Operation(
        method="DELETE",
        path="/v1/trace-sets/{trace_set}",
        summary="Delete a trace set.",
        scope="admin",
        handle=_delete,
        answers={204: None},
        errors=(404,),
    ),
    Operation(
        method="GET",
        path="/v1/trace-sets/{trace_set}/traces",
        summary="List the traces of a set in the order of their arrival.",
        scope="runs:read",
        handle=_traces,
        query=PageQuery,
        answers={200: Page[TraceSummary]},
        errors=(404,),
    ),
    Operation(
        method="GET",
        path="/v1/trace-sets/{trace_set}/traces/{trace_id}",
        summary="Show a trace of a set.",
        scope="runs:read",
        handle=_trace,
        answers={200: TraceBody},
        errors=(404,),
    ),
    Operation(
        method="POST",
        path="/v1/trace-sets/{trace_set}/judge",
        summary="Grade the traces of a set in a new run.",
        scope="runs:write",
        handle=_judge,
        body=JudgeBody,
        answers={202: JudgedSet},
        errors=(404, 409, 410),
    ),
)
