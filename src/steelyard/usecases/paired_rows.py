"""The records that two runs have in common, from their artifacts alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from steelyard.usecases.read_run import decoded_rows

_PREDICTIONS = "predictions.jsonl"


class PredictionRow(msgspec.Struct):
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
    passes: list[bool] = field(default_factory=list[bool])
    scores: list[float] = field(default_factory=list[float])
    reason: str | None = None
    """Of the first repeat that did not pass."""

    @property
    def is_scored(self) -> bool:
        """Whether a repeat of it has a score."""
        return bool(self.passes)

    @property
    def passed(self) -> float:
        """The share of its scored repeats that passed."""
        return sum(self.passes) / len(self.passes)

    @property
    def score(self) -> float:
        """The mean over its scored repeats."""
        return sum(self.scores) / len(self.scores)


def read_records(folder: Path) -> dict[tuple[str, int], Record]:
    """The records of a run, by their hash; the second of two equal ones has the number 1."""
    records: dict[tuple[str, int], Record] = {}
    places: dict[int, tuple[str, int]] = {}
    seen: dict[str, int] = {}
    decode = msgspec.json.Decoder(PredictionRow).decode
    for row in decoded_rows(folder, _PREDICTIONS, decode):
        if row.record_sha256 is None:
            continue
        if row.index not in places:
            times = seen.get(row.record_sha256, 0)
            seen[row.record_sha256] = times + 1
            places[row.index] = (row.record_sha256, times)
            made = Record(row.index, row.record_id, row.cluster, row.slices)
            records[places[row.index]] = made
        _add(records[places[row.index]], row)
    return records


def _add(record: Record, row: PredictionRow) -> None:
    if row.status != "evaluated" or row.passed is None or row.score is None:
        return
    record.passes.append(row.passed)
    record.scores.append(row.score)
    if not row.passed and record.reason is None:
        record.reason = row.reason
