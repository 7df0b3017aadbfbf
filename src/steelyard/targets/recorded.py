"""`recorded`: responses from a file, failures included."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

from steelyard.contracts.trace.reader import read_trace
from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.targets.response_file import (
    ResponseFile,
    attempt_of,
    is_prediction,
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

    def covers(self, case: Case, repeat: int) -> bool:
        """Whether a response for this record and repeat was recorded."""
        return bool(self._attempts(case.id, repeat))

    async def ask(self, request: Request) -> Trace:
        """The recorded row of this attempt; of the last one, when there are no more."""
        rows = self._attempts(request.case.id, request.repeat)
        if not rows:
            raise TargetError("no_response", f"no recorded response for '{request.case.id}'")
        row = rows[min(request.attempt, len(rows)) - 1]
        code = _error_code(row)
        if code is None:
            return _trace(row)
        said = row.get("message") or row.get("reason")
        message = said if isinstance(said, str) else f"recorded failure: {code}"
        # Where no further attempt was recorded, waiting for one is useless.
        is_last = request.attempt >= len(rows)
        raise TargetError(code, message, retry_after_s=math.inf if is_last else None)

    async def close(self) -> None:
        """Close the file."""
        self._responses.close()

    def _attempts(self, record_id: str, repeat: int) -> list[JsonObject]:
        rows = self._responses.rows(record_id, self._candidate)
        return sorted((row for row in rows if repeat_of(row) == repeat), key=attempt_of)


def _error_code(row: JsonObject) -> str | None:
    """The failure that a row records; predictions of a run name it by their status alone."""
    code = row.get("error_code")
    if isinstance(code, str):
        return code
    if not is_prediction(row) or row.get("trace") is not None:
        return None
    return "timeout" if row["status"] == "timeout" else "target_error"


def _trace(row: JsonObject) -> Trace:
    latency = cast("float | None", row.get("latency_ms"))
    if row.get("trace") is None:
        message = Message(role="assistant", content=cast(str, row["response_text"]))
        return Trace(messages=(message,), latency_ms=latency)
    trace, findings = read_trace(row["trace"])
    if trace is None:
        wrong = next(finding for finding in findings if finding.is_error)
        raise TargetError("bad_response", f"not a trace: {wrong.message}")
    return trace if trace.latency_ms is not None else replace(trace, latency_ms=latency)
