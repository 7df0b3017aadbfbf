"""Records that could not be evaluated: the rows of `failures.jsonl`."""

from __future__ import annotations

import msgspec

from steelyard.results.metrics import Value

FAILURES = "failures.jsonl"


class Failure(Value, frozen=True, kw_only=True):
    """Why one record in one repeat has no score."""

    index: int
    record_id: str | None
    repeat: int = 0
    status: str
    label: str
    message: str | None
    attempts: int

    @property
    def place(self) -> tuple[int, int]:
        """Its index and repeat."""
        return self.index, self.repeat


read_failure = msgspec.json.Decoder(Failure).decode
