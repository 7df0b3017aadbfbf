"""Records that could not be evaluated: the rows of `failures.jsonl`."""

from __future__ import annotations

import msgspec

from steelyard.model.run import MAY_HAVE_BEEN_SENT, Result
from steelyard.results.metrics import Value

FAILURES = "failures.jsonl"
FAILURE_STATUSES = frozenset(("invalid_record", "timeout", "evaluation_error", "cancelled"))
"""The statuses for which a run is no longer `completed` (contract 2, 3.3): a row each."""
FAILED_STATUSES = FAILURE_STATUSES - {"cancelled"}
"""Those that count as failed; a record that was cancelled counts as skipped."""


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

    @property
    def is_interrupted(self) -> bool:
        """Whether it was asked, and cut off before anything came of it."""
        return not self.attempts and str(self.message).endswith(MAY_HAVE_BEEN_SENT)


read_failure = msgspec.json.Decoder(Failure).decode


def failure_of(result: Result) -> Failure:
    """The row of a result with such a status."""
    return Failure(
        index=result.index,
        record_id=result.record_id,
        repeat=result.repeat,
        status=result.status,
        label=result.label or result.status,
        message=result.message,
        attempts=result.attempts,
    )
