"""Read a file of traces into a set: OpenTelemetry, Inspect's logs, responses, or traces."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from steelyard.contracts.importers.otel_spans import GROUPS
from steelyard.contracts.importers.source_row import Imported
from steelyard.contracts.trace.reader import read_trace
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import InvalidError
from steelyard.formats.json_text import compact
from steelyard.formats.records import Record
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.trace_set import WHOLE, NewSpan
from steelyard.ports import Workspace
from steelyard.usecases.convert.inspect_logs import open_logs
from steelyard.usecases.convert.inspect_source import imported_sample
from steelyard.usecases.convert.source_records import export_records
from steelyard.usecases.traces.ports import TracePorts, require_set_name
from steelyard.usecases.traces.receive_spans import receive_spans

ENDINGS = (".json", ".jsonl", ".eval")
"""How the names of files end that are read."""
_AT_ONCE = 500
_SHOWN = 100
_NO_TRACE = (
    "this is no trace: it has neither 'messages', nor 'record_id' with an answer, nor "
    "'resourceSpans'; and it is no log of Inspect"
)


class UnreadTrace(NamedTuple):
    """A part of a file that did not become a trace."""

    place: str
    reason: str


class AddedTraces(NamedTuple):
    """What became of the traces of a file."""

    new: int
    """Traces that came as a whole, and spans, that are new."""
    known: int
    """Those that the set has already; they stay as they are."""
    left_out: int
    first_left_out: tuple[UnreadTrace, ...]


class _Tally:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.first: list[UnreadTrace] = []

    def leave_out(self, place: str, reason: str, count: int = 1) -> None:
        self.counts["left_out"] += count
        if len(self.first) < _SHOWN:
            self.first.append(UnreadTrace(place, reason))


def add_trace_file(
    ports: TracePorts, workspace: Workspace, path: Path, name: str, *, caller: Caller | None = None
) -> AddedTraces:
    """Add the traces of a file to a set, which is made where there is none.

    The same file a second time adds nothing.
    """
    require_set_name(name)
    ports = ports.called_by(caller)
    if path.suffix.lower() not in ENDINGS:
        raise InvalidError(f"{path.name}: traces are read from {', '.join(ENDINGS)}")
    tally, redactor = _Tally(), ports.redactor()
    whole: list[NewSpan] = []
    for place, row in _read(ports, workspace, path, name, tally):
        span = _whole_trace(row, name, redactor)
        if isinstance(span, str):
            tally.leave_out(place, span)
            continue
        whole.append(span)
        if len(whole) == _AT_ONCE:
            _add(ports, whole, tally)
    _add(ports, whole, tally)
    if not tally.counts["new"] + tally.counts["known"]:
        first = f"; {tally.first[0].place}: {tally.first[0].reason}" if tally.first else ""
        raise InvalidError(f"{path.name} holds no trace{first}")
    counts = tally.counts
    return AddedTraces(counts["new"], counts["known"], counts["left_out"], tuple(tally.first))


def _add(ports: TracePorts, whole: list[NewSpan], tally: _Tally) -> None:
    if whole:
        added = ports.traces.add(whole, ports.created)
        tally.counts.update(new=added.new, known=added.known)
        whole.clear()


def _read(
    ports: TracePorts, workspace: Workspace, path: Path, name: str, tally: _Tally
) -> Iterator[tuple[str, JsonObject]]:
    """The rows of whole traces with their places; spans are stored as they are met."""
    if path.suffix.lower() == ".eval":
        yield from _samples(workspace, path, tally)
        return
    for record in export_records(workspace, path):
        value = record.value
        if value is None:
            tally.leave_out(record.place, record.fault)
        elif any(group in value for group in GROUPS):
            _add_spans(ports, record, name, tally)
        elif "eval" in value and "samples" in value:
            yield from _samples(workspace, path, tally)
        else:
            yield record.place, value


def _samples(workspace: Workspace, path: Path, tally: _Tally) -> Iterable[tuple[str, JsonObject]]:
    for log in open_logs(workspace, path):
        for sample in log.samples():
            found = imported_sample(sample)
            if isinstance(found, Imported):
                yield sample.place, found.row
            else:
                tally.leave_out(sample.place, found.reason)


def _add_spans(ports: TracePorts, record: Record, name: str, tally: _Tally) -> None:
    received = receive_spans(ports, record.value or {}, name)
    tally.counts.update(new=received.new, known=received.known)
    if received.rejected:
        tally.leave_out(record.place, received.message, received.rejected)


def _whole_trace(value: JsonObject, name: str, redactor: Redactor) -> NewSpan | str:
    """A trace as it is stored, or why it is none."""
    row = _response_row(value)
    if row is None:
        return _NO_TRACE
    _, findings = read_trace(row["trace"])
    for finding in findings:
        if finding.is_error:
            return f"no trace: {finding.message}"
    key: list[JsonValue] = [row.get(part) for part in ("record_id", "candidate_name", "repeat")]
    about: JsonValue = key if row.get("record_id") else row
    return NewSpan(
        trace_set=name,
        is_named=True,
        trace_id=hashlib.sha256(compact(about)).hexdigest()[:32],
        span_id=WHOLE,
        parent_id="",
        start_ns=0,
        end_ns=0,
        row=redactor.whole(row),
    )


def _response_row(value: JsonObject) -> JsonObject | None:
    """A row of recorded responses, or of the predictions of a run; of a trace alone, one without
    an id."""
    if isinstance(value.get("messages"), list):
        return {"trace": value}
    record_id, trace = value.get("record_id", value.get("example_id")), _trace_of(value)
    if not isinstance(record_id, str) or not record_id or trace is None:
        return None
    row: JsonObject = {
        part: value[part]
        for part in ("repeat", "error_code", "message", "latency_ms")
        if value.get(part) is not None
    }
    candidate = value.get("candidate_name") or value.get("target")
    named: JsonObject = {"candidate_name": candidate} if candidate else {}
    return {"record_id": record_id, **named, **row, "trace": trace}


def _trace_of(value: JsonObject) -> JsonValue:
    """What was answered; of a failure, nothing that was said."""
    if value.get("trace") is not None:
        return value["trace"]
    text = value.get("response_text")
    if isinstance(text, str):
        said: JsonObject = {"role": "assistant", "content": text}
        return {"messages": [said]}
    return {"messages": []} if value.get("error_code") else None
