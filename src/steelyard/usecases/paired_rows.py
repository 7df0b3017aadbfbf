"""The records of a run as a comparison needs them, from its artifacts alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from steelyard.usecases.read_run import decoded_rows

_PREDICTIONS = "predictions.jsonl"


class PredictionRow(msgspec.Struct, gc=False):
    """What a comparison needs of a prediction; the rest of the row is skipped unread."""

    index: int
    record_id: str | None
    record_sha256: str | None
    status: str
    score: float | None
    passed: bool | None
    reason: str | None = None
    cluster: str | None = None
    slices: dict[str, list[str]] = msgspec.field(default_factory=dict[str, list[str]])


@dataclass(slots=True)
class Record:
    """A record of a run: what its repeats come to."""

    index: int
    record_id: str | None
    cluster: str | None
    slices: dict[str, list[str]]
    tries: int = 0
    scored: int = 0
    passes: int = 0
    total: float = 0.0
    """The sum of its scores."""
    reason: str | None = None
    """Of the first repeat that did not pass."""

    @property
    def passed(self) -> float:
        """The share of its scored repeats that passed."""
        return self.passes / self.scored

    @property
    def score(self) -> float:
        """The mean over its scored repeats."""
        return self.total / self.scored

    @property
    def missing(self) -> int:
        """How many of its repeats have no score."""
        return self.tries - self.scored


def read_records(folder: Path) -> dict[tuple[str, int], Record]:
    """The records of a run, by their hash; the second of two equal ones has the number 1."""
    records: dict[tuple[str, int], Record] = {}
    by_index: dict[int, Record] = {}
    seen: dict[str, int] = {}
    decode = msgspec.json.Decoder(PredictionRow).decode
    for row in decoded_rows(folder, _PREDICTIONS, decode):
        sha256 = row.record_sha256
        if sha256 is None:
            continue
        record = by_index.get(row.index)
        if record is None:
            times = seen.get(sha256, 0)
            seen[sha256] = times + 1
            record = Record(row.index, row.record_id, row.cluster, row.slices)
            by_index[row.index] = records[sha256, times] = record
        record.tries += 1
        if row.status != "evaluated" or row.passed is None or row.score is None:
            continue
        record.scored += 1
        record.passes += row.passed
        record.total += row.score
        if not row.passed and record.reason is None:
            record.reason = row.reason
    return records
