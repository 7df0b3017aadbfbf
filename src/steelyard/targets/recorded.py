"""`recorded`: responses from a file, failures included."""

from __future__ import annotations

import math
from itertools import product
from typing import cast

from msgspec.structs import replace

from steelyard.contracts.trace.reader import read_trace
from steelyard.errors import NO_RESPONSE, TargetError
from steelyard.formats.json_fields import text_field
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from steelyard.model.plausible import latency_ms
from steelyard.model.trace import Trace
from steelyard.ports import Judged, Request, Sought
from steelyard.targets.response_file import (
    ReplyKey,
    ResponseFile,
    attempt_of,
    is_prediction,
    judge_name,
    repeat_of,
)


class RecordedTarget:
    """Answers with what was recorded."""

    def __init__(self, name: str, responses: ResponseFile, candidate: str) -> None:
        self.name = name
        self._responses = responses
        self._candidate = candidate

    def described(self) -> JsonObject:
        """Its settings."""
        path = str(self._responses.path)
        return {"provider": "recorded", "path": path, "candidate": self._candidate}

    def covers(self, sought: Sought) -> bool:
        """Whether a response for this record and repeat was recorded."""
        return bool(self._attempts(sought))

    def has_replies(self, record_id: str, check: str) -> bool:
        """Whether a judge was recorded for a check of a record, whatever it was asked."""
        return self._responses.has_replies(record_id, check)

    async def ask(self, request: Request) -> Trace:
        """The recorded row of this attempt; of the last one, when there are no more."""
        if request.judged:
            rows = self._replies(request.case.id, request.repeat, request.judged)
        else:
            sha256 = request.record_sha256
            sought = Sought(request.case, request.repeat, request.index, lambda: sha256)
            rows = self._attempts(sought)
        if not rows:
            raise TargetError(NO_RESPONSE, f"no recorded {_missing(request)}")
        row = rows[min(request.attempt, len(rows)) - 1]
        code = _error_code(row)
        if code is None:
            return _trace(row)
        stated = row.get("message") or row.get("reason")
        message = stated if isinstance(stated, str) else f"recorded failure: {code}"
        # Where no further attempt was recorded, waiting for one is useless.
        is_last = request.attempt >= len(rows)
        raise TargetError(code, message, retry_after_s=math.inf if is_last else None)

    async def close(self) -> None:
        """Close the file."""
        self._responses.close()

    def _attempts(self, sought: Sought) -> list[JsonObject]:
        """Of a run's predictions, those of the same place and hash; of others, and where the
        dataset is another one by now, those of the same id."""
        record_id, responses = sought.case.id, self._responses
        placed = responses.placed(sought.index, self._candidate)
        same = [
            row
            for row in placed
            if row.get("record_id") == record_id
            or row.get("record_sha256") == sought.record_sha256()
        ]
        return _of_repeat(
            same or _of_one(responses.rows(record_id, self._candidate)), sought.repeat
        )

    def _replies(self, record_id: str, repeat: int, asked: Judged) -> list[JsonObject]:
        """The recorded replies of a judge; a row may leave out whose answer, which check, or
        which version."""
        name = judge_name(asked.judge)
        names = name, name.partition("@")[0]
        for candidate, check, judge in product((asked.candidate, ""), (asked.check, None), names):
            key = ReplyKey(
                *(record_id, candidate, check, judge),
                *(asked.item, asked.turn, asked.sample, asked.round),
            )
            if rows := _of_repeat(self._responses.replies(key), repeat):
                return rows
        return []


def _of_one(rows: list[JsonObject]) -> list[JsonObject]:
    """The rows of an id, unless a run had several records that are called so."""
    return rows if len({cast("int | None", row.get("index")) for row in rows}) <= 1 else []


def _of_repeat(rows: list[JsonObject], repeat: int) -> list[JsonObject]:
    return sorted((row for row in rows if repeat_of(row) == repeat), key=attempt_of)


def _missing(request: Request) -> str:
    judged, record = request.judged, request.case.id
    if judged is None:
        return f"response for '{record}'"
    parts = [f"check '{judged.check}'"]
    if judged.item is not None:
        parts.append(f"item '{judged.item}'")
    if judged.turn is not None:
        parts.append(f"turn {judged.turn}")
    if judged.sample:
        parts.append(f"sample {judged.sample}")
    if judged.round:
        parts.append(f"round {judged.round}")
    return f"reply of {judged.judge} for '{record}' ({', '.join(parts)})"


def _error_code(row: JsonObject) -> str | None:
    """The failure that a row records; predictions of a run name it by their status alone."""
    code = row.get("error_code")
    if isinstance(code, str):
        return code
    if not is_prediction(row) or row.get("trace") is not None:
        return None
    return "timeout" if row["status"] == "timeout" else "target_error"


def _trace(row: JsonObject) -> Trace:
    latency = latency_ms(row.get("latency_ms"))
    if row.get("trace") is None:
        message = Message(role="assistant", content=text_field(row, "response_text"))
        return Trace(messages=(message,), latency_ms=latency)
    trace, findings = read_trace(row["trace"])
    if trace is None:
        wrong = next(finding for finding in findings if finding.is_error)
        raise TargetError("bad_response", f"not a trace: {wrong.message}")
    return trace if trace.latency_ms is not None else replace(trace, latency_ms=latency)
