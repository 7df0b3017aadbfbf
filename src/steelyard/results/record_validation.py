"""Which records were accepted: the rows of `record_validation.jsonl`."""

from __future__ import annotations

import msgspec

from steelyard.model.finding import Finding
from steelyard.model.run import Result
from steelyard.results.metrics import Value

RECORD_VALIDATION = "record_validation.jsonl"


class RecordValidation(Value, frozen=True, kw_only=True):
    """Whether one record was accepted."""

    index: int
    record_id: str | None
    result: str
    record_sha256: str | None
    errors: tuple[Finding, ...]

    @property
    def is_accepted(self) -> bool:
        """Rejected records are not run."""
        return self.result == "accepted"


read_record_validation = msgspec.json.Decoder(RecordValidation).decode


def record_validation_of(result: Result) -> RecordValidation:
    """The row of the record that a result is about."""
    return RecordValidation(
        index=result.index,
        record_id=result.record_id,
        result="rejected" if result.status == "invalid_record" else "accepted",
        record_sha256=result.record_sha256,
        errors=result.errors,
    )
