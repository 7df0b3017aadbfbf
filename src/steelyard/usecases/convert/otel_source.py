"""Spans of OpenTelemetry as a source of recorded responses."""

from __future__ import annotations

from pathlib import Path

from steelyard.contracts.importers.otel_spans import Span, spans_of
from steelyard.contracts.importers.otel_traces import import_trace
from steelyard.errors import InvalidError, ParseError
from steelyard.model.conversion import Refusal
from steelyard.ports import Workspace
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.source import PlacedImports, RecordedRows
from steelyard.usecases.convert.source_records import export_records, source_files

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
