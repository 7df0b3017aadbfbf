"""Stored rows of unfinished records: the target's answer and its judgements."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import cast

from msgspec.structs import replace

from steelyard.contracts.trace.reader import read_trace
from steelyard.contracts.trace.writer import trace_row
from steelyard.model.json_value import JsonObject
from steelyard.model.judgement import Judgement
from steelyard.model.run import PlannedRecord, Result
from steelyard.model.trace import Trace

_KEYS = ("record_id", "repeat", "key", "check", "judge", "target", "fingerprint", "item", "turn")
_COUNTED = ("sample", "round", "is_enforced", "attempts", "cost_usd", "is_cached", "saved_usd")
_FAILED = ("error_code", "message")
_JUDGED = ("index", *_KEYS, *_COUNTED, *_FAILED)
_judged = attrgetter(*_JUDGED)
_KNOWN = ("attempts", "first_attempt_at", "last_attempt_at", "response_source", "cost_usd")


def judgement_row(judgement: Judgement) -> JsonObject:
    """A judgement as its JSON object; the prompt is stored separately."""
    row: JsonObject = dict(zip(_JUDGED, _judged(judgement), strict=True))
    row["trace"] = trace_row(judgement.trace) if judgement.trace else None
    return row


def read_judgement(data: bytes) -> Judgement:
    """A judgement that was kept."""
    row = json.loads(data)
    return Judgement(**{name: row[name] for name in _JUDGED}, trace=_trace(row["trace"]))


def answered_row(result: Result) -> JsonObject:
    """A target's answer as its JSON object, without the fields of the dataset."""
    row: JsonObject = {name: getattr(result, name) for name in (*_KNOWN, "saved_usd")}
    if result.copied_attempts:
        row["copied_attempts"] = result.copied_attempts
    key = result.answer_key.hex() if result.answer_key else None
    trace = cast(Trace, result.trace)
    return {**row, "answer_key": key, "trace": trace_row(trace)}


def read_answered(data: bytes, record: PlannedRecord) -> Result:
    """The result of a record whose answer was kept, as far as it had come."""
    row = json.loads(data)
    known = {name: row[name] for name in (*_KNOWN, "saved_usd")}
    # Only where the answer was copied from another run.
    known |= {name: row[name] for name in ("copied_attempts", "copied_usd") if name in row}
    key = bytes.fromhex(row["answer_key"]) if row["answer_key"] else None
    return replace(record.result("evaluated"), **known, answer_key=key, trace=_trace(row["trace"]))


def _trace(row: JsonObject | None) -> Trace | None:
    return None if row is None else read_trace(row)[0]
