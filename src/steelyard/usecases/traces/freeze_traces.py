"""Freeze the traces of a set as a dataset and its recorded responses, which a run grades."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.contracts.trace.writer import trace_row
from steelyard.errors import InvalidError
from steelyard.model.json_value import JsonObject
from steelyard.model.trace import Trace
from steelyard.usecases.convert.conversion_output import OutputDraft
from steelyard.usecases.traces.assembled_traces import AssembledTrace, every_trace
from steelyard.usecases.traces.ports import TracePorts

MAX_TRACES = 50_000
"""The most records of a dataset document."""
CONVERSATION = "metadata.conversation_id"
"""The field whose records are one piece of evidence."""
_LONGEST_ID, _LONGEST_PROMPT = 128, 50_000
_NOTHING_ASKED = "[the trace has no message of a user]"
_COPIED = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenTraces:
    """The traces of a set as they are now, in two files that never change."""

    name: str
    dataset: Path
    responses: Path
    records: int
    left_out: Mapping[str, int]
    """How many traces are not among them, by the reason."""
    are_grouped: bool
    """Whether every trace is a part of a conversation."""


@dataclass(slots=True)
class _Counts:
    records: int = 0
    grouped: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    ids: Counter[str] = field(default_factory=Counter[str])


def freeze_traces(ports: TracePorts, name: str) -> FrozenTraces:
    """Write the traces of a set that can be graded; equal traces make equal files.

    A record is a trace: its prompt is what users say before the first answer, and its response
    the trace itself.
    """
    counts, digest = _Counts(), hashlib.sha256()
    with ExitStack() as stack:
        records, responses = ports.scratch(), ports.scratch()
        stack.callback(records.discard)
        stack.callback(responses.discard)
        for record, response in _rows(every_trace(ports, name), name, counts):
            line = _line(response)
            digest.update(line)
            responses.write(line + b"\n")
            records.write((b",\n" if counts.records > 1 else b"") + _line(record))
        _require_some(name, counts)
        version = digest.hexdigest()[:16]
        head: JsonObject = {
            "dataset_id": name,
            "dataset_version": version,
            "schema_version": "1.0",
        }
        opened = _line(head).removesuffix(b"}") + b',"records":[\n'
        place = ports.folder / name
        frozen = FrozenTraces(
            name=name,
            dataset=place / f"{version}.json",
            responses=place / f"{version}.jsonl",
            records=counts.records,
            left_out=dict(counts.left_out),
            are_grouped=counts.grouped == counts.records,
        )
        _write(ports.draft(frozen.dataset), opened, records, b"\n]}\n")
        _write(ports.draft(frozen.responses), b"", responses, b"")
    return frozen


def _rows(
    found: Iterator[AssembledTrace], name: str, counts: _Counts
) -> Iterator[tuple[JsonObject, JsonObject]]:
    for one in found:
        if one.row is None or one.trace is None:
            counts.left_out[one.left_out or ""] += 1
            continue
        counts.records += 1
        counts.grouped += one.conversation_id is not None
        if counts.records > MAX_TRACES:
            raise InvalidError(f"'{name}' has more than {MAX_TRACES:,} traces to grade")
        record_id = _record_id(one, counts.ids)
        yield _record(one, one.trace, record_id), _response(one.row, one.trace, record_id, name)


def _record_id(one: AssembledTrace, ids: Counter[str]) -> str:
    """The id that the trace names, numbered where others have the same; else its own."""
    assert one.row is not None
    named = _clean(str(one.row.get("record_id") or one.trace_id))
    if not named or len(named) > _LONGEST_ID - 10:
        named = one.trace_id
    ids[named] += 1
    free = named if ids[named] == 1 else f"{named} ({ids[named]})"
    return free if free == named or free not in ids else one.trace_id


def _record(one: AssembledTrace, trace: Trace, record_id: str) -> JsonObject:
    assert one.row is not None
    about = {
        "trace_id": one.trace_id,
        "model": trace.model or one.row.get("candidate_name"),
        "conversation_id": one.conversation_id,
    }
    metadata: JsonObject = {
        part: _clean(str(value))[:_LONGEST_ID] for part, value in about.items() if value
    }
    prompt: JsonObject = {"prompt": _asked(trace)}
    return {"record_id": record_id, "input": prompt, "metadata": metadata}


def _response(row: JsonObject, trace: Trace, record_id: str, name: str) -> JsonObject:
    """The row under the name of the set, which is the one candidate of its run."""
    made: JsonObject = {"record_id": record_id, "candidate_name": name}
    for part in ("error_code", "message", "latency_ms"):
        if part in row:
            made[part] = row[part]
    return {**made, "trace": trace_row(trace)}


def _asked(trace: Trace) -> str:
    """What users say before the first answer."""
    said: list[str] = []
    for message in trace.messages:
        if message.role == "assistant":
            break
        if message.role == "user" and message.text:
            said.append(message.text)
    text = _clean("\n\n".join(said))
    if len(text) > _LONGEST_PROMPT:
        text = f"{text[:_LONGEST_PROMPT]} …"
    return text if text.strip() else _NOTHING_ASKED


def _clean(text: str) -> str:
    """A text as dataset documents take it: without control characters."""
    if text.isprintable():
        return text
    return "".join(
        letter for letter in text if letter in "\n\r\t" or unicodedata.category(letter) != "Cc"
    )


def _require_some(name: str, counts: _Counts) -> None:
    if not counts.records:
        why = "; ".join(f"{count:,}: {why}" for why, count in counts.left_out.items())
        raise InvalidError(f"no trace of '{name}' can be graded ({why})")


def _write(draft: OutputDraft, opened: bytes, body: OutputDraft, closed: bytes) -> None:
    try:
        draft.write(opened)
        with body.read() as stream:
            while chunk := stream.read(_COPIED):
                draft.write(chunk)
        draft.write(closed)
        draft.settle()
    finally:
        draft.discard()


def _line(row: JsonObject) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
