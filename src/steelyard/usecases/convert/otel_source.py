"""Spans of OpenTelemetry as a source of recorded responses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from steelyard.contracts.importers.otel_spans import Span, spans_of
from steelyard.contracts.importers.otel_traces import import_trace
from steelyard.errors import InvalidError, ParseError, UnreadableFileError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_fields import fields
from steelyard.formats.json_text import parse_json
from steelyard.formats.records import Record, jsonl_records
from steelyard.model.conversion import Refusal
from steelyard.ports import Workspace
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.source import PlacedImports, RecordedRows
from steelyard.usecases.convert.source_records import source_files

_MAX_JSON = 1024 * 1024 * 1024
_ENDINGS = (".json", ".jsonl", ".ndjson")


def otel_responses(ports: ConvertPorts, options: ConvertOptions) -> RecordedRows:
    """One response for each trace; another of the same record is a repeat."""
    return RecordedRows(_traces(ports.workspace, options), has_repeats=True)


def _traces(workspace: Workspace, options: ConvertOptions) -> PlacedImports:
    """One import for each trace, ordered by start time, after the invalid lines."""
    traces: dict[str, list[Span]] = {}
    for path in _files(workspace, options.source):
        for record in export_records(workspace, path):
            fault = record.fault
            try:
                for span in spans_of(record.value) if record.value is not None else ():
                    traces.setdefault(span.trace_id, []).append(span)
            except ParseError as wrong:
                fault = str(wrong)
            if fault:
                yield record.place, Refusal("invalid", fault)
    for trace_id, spans in sorted(traces.items(), key=_begin):
        yield trace_id, import_trace(spans, options.names)


def _files(workspace: Workspace, path: Path) -> list[Path]:
    found = [file.path for file in source_files(workspace, path, None)]
    files = [file for file in found if file.suffix.lower() in _ENDINGS]
    if not files:
        raise InvalidError(f"{path}: spans are read from files that end in {', '.join(_ENDINGS)}")
    return files


def _begin(found: tuple[str, list[Span]]) -> tuple[int, str]:
    return min(span.start_ns for span in found[1]), found[0]


def export_records(workspace: Workspace, path: Path) -> Iterator[Record]:
    """The exports of a file: JSONL with one per line, or one JSON document."""
    if path.suffix.lower() in _ENDINGS[1:]:
        with workspace.open(path) as stream:
            yield from jsonl_records(stream)
        return
    with workspace.open(path) as stream:
        data = stream.read(_MAX_JSON + 1)
    if len(data) > _MAX_JSON:
        raise UnreadableFileError(f"{path}: the file is larger than 1 GB; write JSONL")
    try:
        value = parse_json(without_bom(data))
    except ParseError as wrong:
        line = f":{wrong.line}" if wrong.line else ""
        raise UnreadableFileError(f"{path}{line}: {wrong}") from None
    listed = value if isinstance(value, list) else [value]
    for number, item in enumerate(listed, start=1):
        is_object = isinstance(item, dict)
        fault = "" if is_object else "must be an object"
        yield Record(f"{path.name} item {number}", fields(item) if is_object else None, fault)
