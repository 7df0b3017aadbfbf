"""Exports of Langfuse: dataset items, runs of datasets, traces with observations, scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from steelyard.contracts.importers.conversation import as_object, as_objects, as_text, from_text
from steelyard.contracts.importers.otel_spans import Span
from steelyard.contracts.importers.otel_verdicts import LANGFUSE_TYPE
from steelyard.contracts.importers.platform_values import (
    answer_messages,
    nanoseconds,
    plain_label,
    platform_case,
    question_messages,
)
from steelyard.contracts.importers.source_row import Import, Imported, wrong
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue

Kind: TypeAlias = Literal["item", "run_item", "score", "observation", "trace"]
_OPERATIONS = {
    "GENERATION": "chat",
    "AGENT": "invoke_agent",
    "TOOL": "execute_tool",
}
_WORD = re.compile(r"_([a-z])")
_MEDIA = "@@@langfuseMedia:"
_UNSENT_MEDIA = Change("media", "images and files are not in an export; their references are kept")
_ARCHIVED = "an archived item, which Langfuse does not run"
_MACHINE = (
    "its source is {}: a program or a judge gave it, and labels are what people say; lost, grade "
    "with a rubric"
)
_ELSEWHERE = "it is about a session or a run of a dataset, and a label is about one response"
_PART = Change("observationId", "it is about a part of the trace; the label is about the whole")
_CORRECTION = "it is a corrected answer, not a verdict"


def camel(row: JsonObject) -> JsonObject:
    """A row under the names of the API; files in a bucket have the names of the database."""
    return {_WORD.sub(lambda found: found[1].upper(), name): row[name] for name in row}


def kind_of(row: JsonObject) -> Kind | None:
    """What a row is, by its fields; None where Langfuse writes no such row."""
    if "datasetItemId" in row and "traceId" in row:
        return "run_item"
    if "source" in row and "name" in row and ("value" in row or "stringValue" in row):
        return "score"
    if "traceId" in row and "startTime" in row:
        return "observation"
    if "expectedOutput" in row and "input" in row:
        return "item"
    if "id" in row and "timestamp" in row:
        return "trace"
    return None


def unfolded(record: JsonObject) -> Iterator[JsonObject]:
    """The rows of a record: of a page of the API, of a run, and of a trace with all it holds."""
    if isinstance(record.get("data"), list):
        for row in as_objects(record["data"]):
            yield from unfolded(row)
        return
    row = camel(record)
    if isinstance(row.get("datasetRunItems"), list):
        yield from (camel(one) for one in as_objects(row["datasetRunItems"]))
        return
    yield row
    if kind_of(row) != "trace":
        return
    for name in ("observations", "scores"):
        yield from (camel(one) for one in as_objects(row.get(name)))


def import_item(row: JsonObject, names: Mapping[str, str]) -> Import:
    """An item of a dataset as an eval case."""
    if row.get("status") == "ARCHIVED":
        return Refusal("skipped", _ARCHIVED, "archived")
    record_id = row.get("id")
    if not isinstance(record_id, str) or not record_id:
        raise wrong("a dataset item needs an 'id'")
    metadata = from_text(row.get("metadata"))
    kept = metadata if isinstance(metadata, dict) else {}
    if metadata and not kept:
        kept = {"metadata": metadata}
    given = {"input": row.get("input"), "expected_output": row.get("expectedOutput")}
    made = platform_case(record_id, given, {**kept}, names)
    changes = (*made.changes, _UNSENT_MEDIA) if _MEDIA in str(row) else made.changes
    return made._replace(changes=changes)


def trace_span(row: JsonObject) -> Span:
    """A trace as the span that holds all of its observations."""
    start = nanoseconds(row.get("timestamp"))
    latency = row.get("latency")
    seconds = _number(latency)
    name = as_text(row.get("name"))
    attributes: JsonObject = {**_flat(row), "gen_ai.operation.name": "invoke_agent"}
    return Span(
        trace_id=_needed(row, "id"),
        span_id=_needed(row, "id"),
        parent_id="",
        name=name or "trace",
        start_ns=start,
        end_ns=start + int(seconds * 1_000_000_000),
        attributes={**attributes, **_messages(row)},
        events=(),
        resource={"service.name": name or "langfuse"},
        error=None,
    )


def observation_span(row: JsonObject, *, has_trace: bool) -> Span:
    """An observation; without a parent it belongs to its trace."""
    trace_id = _needed(row, "traceId")
    start = nanoseconds(row.get("startTime"))
    operation = _OPERATIONS.get(as_text(row.get("type")).upper())
    attributes: JsonObject = dict(_flat(row))
    attributes[LANGFUSE_TYPE] = as_text(row.get("type"))
    if operation is not None:
        attributes["gen_ai.operation.name"] = operation
    if operation == "execute_tool":
        attributes["gen_ai.tool.name"] = row.get("name")
        attributes["gen_ai.tool.call.arguments"] = row.get("input")
        attributes["gen_ai.tool.call.result"] = row.get("output")
    elif operation is not None:
        attributes.update(_messages(row))
    model = row.get("model") or row.get("providedModelName")
    if isinstance(model, str) and operation == "chat":
        attributes["gen_ai.request.model"] = model
    for side, count in _usage(row).items():
        attributes[f"gen_ai.usage.{side}_tokens"] = count
    is_wrong = row.get("level") == "ERROR"
    return Span(
        trace_id=trace_id,
        span_id=_needed(row, "id"),
        parent_id=as_text(row.get("parentObservationId")) or (trace_id if has_trace else ""),
        name=as_text(row.get("name")) or as_text(row.get("type")).lower(),
        start_ns=start,
        end_ns=nanoseconds(row.get("endTime")) or start,
        attributes=attributes,
        events=(),
        resource={"service.name": "langfuse"},
        error=str(row.get("statusMessage") or "the observation failed") if is_wrong else None,
    )


def import_score(row: JsonObject) -> Import:
    """What a person said about a trace, as a label; scores of machines are refused."""
    source = as_text(row.get("source")).upper() or "unknown"
    if source != "ANNOTATION":
        return Refusal("left_out", _MACHINE.format(source), f"machine {source}")
    if not row.get("traceId"):
        return Refusal("left_out", _ELSEWHERE, "elsewhere")
    kind = as_text(row.get("dataType")).upper()
    if kind == "CORRECTION":
        return Refusal("left_out", _CORRECTION, "correction")
    value = row.get("value")
    if kind in {"CATEGORICAL", "TEXT"}:
        value = row.get("stringValue")
    elif kind == "BOOLEAN":
        value = bool(_number(value))
    elif isinstance(value, str):
        value = _number(value)
    if value in (None, ""):
        raise wrong(f"the score '{row.get('name')}' has no value")
    label: JsonObject = {
        "trace_id": row["traceId"],
        "name": _needed(row, "name"),
        "value": plain_label(value),
        "annotator": _person(row),
        "comment": as_text(row.get("comment")),
    }
    return Imported(label, (_PART,) if row.get("observationId") else ())


def _person(row: JsonObject) -> str:
    """Who gave a score; files in a bucket do not say it."""
    known = ("authorUserId", "authorUserName")
    return next((str(row[name]) for name in known if row.get(name)), "")


def _flat(row: JsonObject) -> JsonObject:
    """What else a row says, so that a field of it can name the record or the candidate."""
    told = ("name", "userId", "sessionId", "release", "version", "environment", "promptName")
    found: JsonObject = {name: row[name] for name in told if isinstance(row.get(name), str)}
    for name, value in as_object(from_text(row.get("metadata"))).items():
        found[f"metadata.{name}"] = value
    return found


def _messages(row: JsonObject) -> JsonObject:
    found = {
        "gen_ai.input.messages": question_messages(row.get("input")),
        "gen_ai.output.messages": answer_messages(row.get("output")),
    }
    return {name: [*messages] for name, messages in found.items() if messages}


def _usage(row: JsonObject) -> dict[str, int]:
    """Tokens in and out, as each version of an export counts them."""
    details = as_object(from_text(row.get("usageDetails")))
    usage = as_object(from_text(row.get("usage")))
    counted: dict[str, int] = {}
    for side, others in (
        ("input", ("promptTokens", "inputTokens", "inputUsage")),
        ("output", ("completionTokens", "outputTokens", "outputUsage")),
    ):
        known = (details.get(side), usage.get(side), *(row.get(name) for name in others))
        value = next((one for one in known if one not in (None, "")), None)
        if value is not None:
            counted[side] = int(_number(value))
    return counted


def _number(value: JsonValue) -> float:
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(value) if isinstance(value, str) else 0.0
    except ValueError:
        return 0.0


def _needed(row: JsonObject, name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value:
        raise wrong(f"a row of Langfuse needs '{name}'")
    return value
