"""Exports of Phoenix: examples of datasets, runs of experiments, spans, annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from steelyard.contracts.importers.conversation import as_object, as_objects, as_text, from_text
from steelyard.contracts.importers.otel_spans import Span, SpanEvent
from steelyard.contracts.importers.platform_values import (
    answer_messages,
    nanoseconds,
    plain_label,
    platform_case,
    question_messages,
)
from steelyard.contracts.importers.source_row import Import, Imported, whole, wrong
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue

Kind: TypeAlias = Literal["example", "run", "span", "annotation"]
_ATTRIBUTES = "attributes."
_FAILED = "ERROR"
_ANNOTATION = re.compile(r"annotation_(.+)_(label|score|explanation|annotator_kind)")
_MACHINE = (
    "its annotator is {}: a judge or a program, and labels are what people say; lost, grade with "
    "a rubric"
)
_SCORED = Change("annotations", "evaluations of Phoenix are no part of a trace; use a rubric")
_PART = Change("span_id", "it is about a part of the trace; the label is about the whole")
_SILENT = "the run holds no answer"


def kind_of(row: JsonObject) -> Kind | None:
    """What a row is, by its fields; None where Phoenix writes no such row."""
    if "annotator_kind" in row and ("name" in row or "annotation_name" in row):
        return "annotation"
    if "example_id" in row and "reference_output" in row:
        return "run"
    if _ids(row)[0] and ("start_time" in row or "span_kind" in row):
        return "span"
    has_input = "input" in row or any(name.startswith("input.") for name in row)
    if has_input and ("output" in row or any(name.startswith("output.") for name in row)):
        return "example"
    return None


def unfolded(record: JsonObject) -> Iterator[JsonObject]:
    """The rows of a record: of a page of the API, or one with the annotations that it holds."""
    held = record.get("data")
    listed = as_object(held).get("examples") if isinstance(held, dict) else held
    if isinstance(listed, list):
        for row in as_objects(listed):
            yield from unfolded(row)
        return
    yield record
    kind = kind_of(record)
    if kind == "run":
        yield from _of_run(record)
    elif kind == "span":
        yield from _of_span(record)


def import_example(row: JsonObject, names: Mapping[str, str]) -> Import:
    """An example of a dataset as an eval case."""
    example = _nested(row)
    record_id = example.get("id") or example.get("example_id") or example.get("node_id")
    if not isinstance(record_id, str):
        raise wrong("an example needs an 'id'")
    metadata = as_object(from_text(example.get("metadata")))
    given = {"input": example.get("input"), "expected_output": example.get("output")}
    kept: JsonObject = {**metadata}
    if splits := from_text(example.get("splits")):
        kept.setdefault("splits", splits)
    return platform_case(record_id, given, kept, names)


def import_run(row: JsonObject, candidate: str) -> Import:
    """A run of an experiment as a response to its example."""
    example, number = row.get("example_id"), whole(row.get("repetition_number"))
    if not isinstance(example, str) or not example:
        raise wrong("a run of an experiment needs an 'example_id'")
    answer = answer_messages(row.get("output"))
    error = row.get("error")
    if not answer and not error:
        return Refusal("left_out", _SILENT)
    trace: JsonObject = {"messages": [*question_messages(row.get("input")), *answer]}
    latency = _float(row.get("latency_ms"))
    if latency is not None and latency >= 0:
        trace["latency_ms"] = latency
    counts = {
        ours: count
        for ours, name in (
            ("input_tokens", "prompt_token_count"),
            ("output_tokens", "completion_token_count"),
        )
        if (count := whole(row.get(name))) is not None
    }
    if counts:
        trace["usage"] = {**counts}
    made: JsonObject = {"record_id": example, "candidate_name": candidate, "trace": trace}
    if number is not None and number > 1:
        made["repeat"] = number - 1
    if error and not answer:
        made |= {"error_code": "target_error", "message": str(error)}
    has_annotations = bool(row.get("annotations")) or any(map(_ANNOTATION.fullmatch, row))
    return Imported(made, (_SCORED,) if has_annotations else ())


def phoenix_span(row: JsonObject) -> Span:
    """A span as the API or a table of spans writes it."""
    trace_id, span_id = _ids(row)
    if not trace_id:
        raise wrong("a span needs 'context.trace_id'")
    attributes = _flat(_attributes(row))
    kind = as_text(row.get("span_kind"))
    if kind and kind != "UNKNOWN":
        attributes.setdefault("openinference.span.kind", kind)
    start = nanoseconds(row.get("start_time"))
    failed = as_text(row.get("status_code")).upper() == _FAILED
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=as_text(row.get("parent_id")),
        name=as_text(row.get("name")),
        start_ns=start,
        end_ns=nanoseconds(row.get("end_time")) or start,
        attributes=attributes,
        events=tuple(
            SpanEvent(as_text(event.get("name")), as_object(event.get("attributes")))
            for event in as_objects(from_text(row.get("events")))
        ),
        resource={"service.name": "phoenix"},
        error=(as_text(row.get("status_message")) or "the operation failed") if failed else None,
    )


def import_annotation(row: JsonObject) -> Import:
    """What a person said, as a label about a span, a trace, or a run; machines are refused."""
    kind = as_text(row.get("annotator_kind")).upper() or "unknown"
    if kind != "HUMAN":
        return Refusal("left_out", _MACHINE.format(kind), f"machine {kind}")
    result = as_object(from_text(row.get("result")))
    label = row.get("label", row.get("result.label", result.get("label")))
    score = row.get("score", row.get("result.score", result.get("score")))
    value = label if label not in (None, "") else score
    if value in (None, ""):
        raise wrong(f"the annotation '{row.get('name')}' has neither label nor score")
    said = row.get("explanation", row.get("result.explanation", result.get("explanation")))
    made: JsonObject = {
        "span_id": as_text(row.get("span_id") or row.get("context.span_id")),
        "trace_id": as_text(row.get("trace_id") or row.get("context.trace_id")),
        "example_id": as_text(row.get("example_id")),
        "repeat": max((whole(row.get("repetition_number")) or 1) - 1, 0),
        "name": as_text(row.get("name")) or as_text(row.get("annotation_name")),
        "value": plain_label(value),
        "annotator": as_text(row.get("user_id")) or as_text(row.get("identifier")),
        "comment": as_text(said),
    }
    return Imported(made, (_PART,) if made["span_id"] and not row.get("is_root") else ())


def _of_run(row: JsonObject) -> Iterator[JsonObject]:
    """The annotations of a run; a table has them in columns."""
    about = {name: row[name] for name in ("example_id", "repetition_number") if name in row}
    for annotation in as_objects(from_text(row.get("annotations"))):
        told = {name: value for name, value in annotation.items() if name != "trace_id"}
        yield {**told, **about}
    columns: dict[str, JsonObject] = {}
    for name, value in row.items():
        found = _ANNOTATION.fullmatch(name)
        if found and value not in (None, ""):
            columns.setdefault(found[1], {})[found[2]] = value
    for name, annotation in columns.items():
        if "annotator_kind" in annotation:
            yield {**annotation, "name": name, **about}


def annotations_of(span: Span) -> Iterator[JsonObject]:
    """The annotations that a span of OTLP was downloaded with."""
    about: JsonObject = {"trace_id": span.trace_id, "span_id": span.span_id}
    yield from _of_span({**about, "parent_id": span.parent_id, "attributes": span.attributes})


def _of_span(row: JsonObject) -> Iterator[JsonObject]:
    """The annotations that a span was downloaded with."""
    trace_id, span_id = _ids(row)
    attributes = _attributes(row)
    for place, about in (
        ("annotations", {"span_id": span_id, "is_root": not row.get("parent_id")}),
        ("trace_annotations", {"trace_id": trace_id}),
    ):
        for annotation in _indexed(attributes, place):
            yield {**annotation, **about}


def _indexed(attributes: JsonObject, place: str) -> list[JsonObject]:
    """Annotations as attributes: `annotations.0.annotation.name` and so on."""
    found: dict[str, JsonObject] = {}
    for name, value in _flat(attributes).items():
        number, _, field = name.removeprefix(f"{place}.").partition(".annotation.")
        if name.startswith(f"{place}.") and field:
            found.setdefault(number, {})[field] = value
    return [*found.values()]


def _nested(row: JsonObject) -> JsonObject:
    """An example of which a table has a column for each member of its objects."""
    made: JsonObject = {}
    for name, value in row.items():
        whole_name, dot, member = name.partition(".")
        if not dot or whole_name not in {"input", "output", "metadata"}:
            made.setdefault(name, value)
            continue
        if value not in (None, ""):
            held = made.setdefault(whole_name, {})
            _put(held if isinstance(held, dict) else {}, member, from_text(value))
    return made


def _put(held: JsonObject, path: str, value: JsonValue) -> None:
    first, dot, rest = path.partition(".")
    if not dot:
        held[first] = value
        return
    inner = held.setdefault(first, {})
    if isinstance(inner, dict):
        _put(inner, rest, value)


def _ids(row: JsonObject) -> tuple[str, str]:
    context = as_object(from_text(row.get("context")))
    trace_id = context.get("trace_id") or row.get("context.trace_id") or row.get("trace_id")
    span_id = context.get("span_id") or row.get("context.span_id") or row.get("span_id")
    return as_text(trace_id), as_text(span_id)


def _attributes(row: JsonObject) -> JsonObject:
    """Attributes of the API as they are, and those that a table has in columns of their own."""
    columns = {
        name.removeprefix(_ATTRIBUTES): from_text(value)
        for name, value in row.items()
        if name.startswith(_ATTRIBUTES) and value not in (None, "")
    }
    return {**as_object(from_text(row.get("attributes"))), **columns}


def _flat(value: JsonValue, path: str = "") -> JsonObject:
    """Objects and lists of objects as dotted names, which is how conventions write them."""
    if isinstance(value, dict):
        found: JsonObject = {}
        for name, item in value.items():
            found |= _flat(item, f"{path}.{name}" if path else name)
        return found
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return _flat({str(number): item for number, item in enumerate(value)}, path)
    return {path: value} if path and value is not None else {}


def _float(value: JsonValue) -> float | None:
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        return None
