"""Convert recordings of other tools to a response file, and report what could not be converted."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from steelyard.contracts.importers.inspect_log import import_response
from steelyard.contracts.importers.otel_spans import Span, spans_of
from steelyard.contracts.importers.otel_traces import MAPPED, import_trace
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.contracts.trace.reader import read_trace
from steelyard.errors import ConflictError, InvalidError, ParseError, UnreadableFileError, argument
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_fields import fields, text_field
from steelyard.formats.json_text import compact, parse_json
from steelyard.formats.records import Record, jsonl_records
from steelyard.model.conversion import Change, Conversion, Refusal
from steelyard.ports import Workspace
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.inspect_logs import LogSample, open_logs
from steelyard.usecases.convert.source_records import source_files
from steelyard.usecases.convert.tally import Tally

RESPONSES = "responses"
"""The output format of recorded traces."""
RECORDERS = ("inspect", "otel")
"""The tools whose traces can be read."""
_MAX_JSON = 1024 * 1024 * 1024
_ENDINGS = (".json", ".jsonl", ".ndjson")
_ANOTHER = Refusal(
    "left_out",
    "another answer of the same candidate to the same record; convert one run at a time",
)
_SAME = Refusal("skipped", "the same row again")


class _Recorded(NamedTuple):
    imports: Iterator[tuple[str, Import]]
    changes: tuple[Change, ...] = ()
    has_repeats: bool = False
    """Whether another answer to the same record is a repeat."""


def convert_traces(ports: ConvertPorts, options: ConvertOptions) -> Conversion:
    """Write one row for each trace; without any, nothing is written."""
    _check(ports.workspace, options)
    source = _recorded(ports.workspace, options)
    tally = Tally()
    tally.change("", source.changes)
    rows = _Rows(has_repeats=source.has_repeats)
    files: tuple[str, ...] = ()
    with ExitStack() as stack:
        draft = ports.draft(options.output) if options.output else ports.scratch()
        stack.callback(draft.discard)
        for place, found in source.imports:
            tally.read += 1
            made = rows.checked(found)
            if isinstance(made, Refusal):
                tally.refuse(place, made)
                continue
            draft.write(
                json.dumps(made.row, ensure_ascii=False).encode("utf-8", "backslashreplace")
            )
            draft.write(b"\n")
            tally.emit(text_field(made.row, "record_id"), made.changes)
        if tally.emitted and options.output:
            draft.settle()
            files = (str(options.output),)
        elif tally.emitted:
            with draft.read() as stream:
                while chunk := stream.read(1 << 20):
                    ports.show(chunk)
    made_from = cast(str, options.made_from)
    return replace(tally.conversion(str(options.source), made_from, RESPONSES), files=files)


class _Rows:
    """Checks that our own reader accepts every row."""

    def __init__(self, *, has_repeats: bool) -> None:
        self._has_repeats = has_repeats
        self._seen: dict[tuple[object, ...], set[int]] = {}
        self._repeats: dict[tuple[object, object], int] = {}

    def checked(self, found: Import) -> Import:
        """The row itself, or why it is refused."""
        if isinstance(found, Refusal):
            return found
        _, findings = read_trace(found.row["trace"])
        for finding in findings:
            if finding.is_error:
                return Refusal("invalid", f"no trace: {finding.message}", finding.code)
        return self._placed(found)

    def _placed(self, found: Imported) -> Import:
        row = found.row
        key = (row["record_id"], row["candidate_name"])
        mark = hash(compact(row))
        seen = self._seen.setdefault((*key, row.get("repeat", 0)), set())
        if mark in seen:
            return _SAME
        is_first = not seen
        seen.add(mark)
        if is_first:
            return found
        if not self._has_repeats:
            return _ANOTHER
        self._repeats[key] = self._repeats.get(key, 0) + 1
        return found._replace(row={**row, "repeat": self._repeats[key]})


def _check(workspace: Workspace, options: ConvertOptions) -> None:
    if options.made_from not in RECORDERS:
        raise InvalidError(
            f"{argument('to')} responses needs {argument('made_from')} {' or '.join(RECORDERS)}"
        )
    if options.split or options.flatten:
        raise InvalidError(
            f"{argument('split')} and {argument('flatten')} are for datasets; "
            "traces are written as they are"
        )
    unknown = [name for name in options.names if name not in MAPPED]
    if options.names and (options.made_from != "otel" or unknown):
        named = next(iter(unknown or options.names))
        raise InvalidError(
            f"{argument('names')} {named}=…: spans can fill {' and '.join(MAPPED)}; "
            "Inspect's logs name both"
        )
    if options.output is None:
        return
    if options.output.suffix.lower() != ".jsonl":
        raise InvalidError(
            f"responses are written to .jsonl; {argument('output')} names {options.output}"
        )
    if workspace.is_file(options.output) and not options.force:
        raise ConflictError(f"{options.output} exists; {argument('force')} writes over it")


def _recorded(workspace: Workspace, options: ConvertOptions) -> _Recorded:
    if options.made_from == "otel":
        return _Recorded(_traces(workspace, options), has_repeats=True)
    logs = open_logs(workspace, options.source)
    changes = tuple(change for log in logs for change in log.changes)

    def imports() -> Iterator[tuple[str, Import]]:
        for log in logs:
            for sample in log.samples():
                yield sample.place, imported_sample(sample)

    return _Recorded(imports(), changes)


def imported_sample(sample: LogSample) -> Import:
    """A sample of a log as a recorded response, or why it is none."""
    if sample.value is None:
        return Refusal("invalid", sample.fault)
    try:
        return import_response(sample.head, sample.value)
    except ParseError as wrong:
        return Refusal("invalid", str(wrong))


def _traces(workspace: Workspace, options: ConvertOptions) -> Iterator[tuple[str, Import]]:
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


def _is_lines(data: bytes) -> bool:
    """Whether the first line is an object by itself."""
    first = without_bom(data).lstrip().partition(b"\n")[0]
    try:
        return isinstance(parse_json(first), dict)
    except ParseError:
        return False


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
        if _is_lines(data):
            # Exporters of collectors call a file of lines .json, too.
            yield from jsonl_records(io.BytesIO(data))
            return
        line = f":{wrong.line}" if wrong.line else ""
        raise UnreadableFileError(f"{path}{line}: {wrong}") from None
    listed = value if isinstance(value, list) else [value]
    for number, item in enumerate(listed, start=1):
        is_object = isinstance(item, dict)
        fault = "" if is_object else "must be an object"
        yield Record(f"{path.name} item {number}", fields(item) if is_object else None, fault)
