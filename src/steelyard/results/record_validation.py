"""Which records were accepted: the rows of `record_validation.jsonl`."""

from __future__ import annotations

import msgspec

from steelyard.model.finding import Finding
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
