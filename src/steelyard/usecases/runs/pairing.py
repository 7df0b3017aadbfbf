"""Pairs the records of two runs by content, from their artifacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from steelyard.results.predictions import PREDICTIONS
from steelyard.results.projections import read_answer
from steelyard.usecases.results.read_run import decoded_rows


class Partner(NamedTuple):
    """A record of run B, and the same record in run A."""

    target: str
    """The target that answered in B."""
    other_index: int
    """The index of the record in A."""
    other_target: str


class Pairing(NamedTuple):
    """The records that both runs answered."""

    partners: dict[int, Partner]
    """By the record's index in B."""
    left_out: dict[str, int]
    """The number of unpaired records, by reason."""


@dataclass(slots=True)
class _Record:
    index: int
    target: str = ""
    is_answered: bool = field(default=False)


def pair_records(first: Path, second: Path) -> Pairing:
    """The records of run A and run B with the same content and an answer in both."""
    a, b = _records(first), _records(second)
    common = [(a[key], b[key]) for key in b if key in a]
    answered = [(one, other) for one, other in common if one.is_answered and other.is_answered]
    only_b = sum(other.is_answered and not one.is_answered for one, other in common)
    only_a = sum(one.is_answered and not other.is_answered for one, other in common)
    return Pairing(
        {other.index: Partner(other.target, one.index, one.target) for one, other in answered},
        {
            "only_in_a": len(a) - len(common),
            "only_in_b": len(b) - len(common),
            "no_answer_in_a": only_b,
            "no_answer_in_b": only_a,
            "no_answer_in_both": len(common) - len(answered) - only_a - only_b,
        },
    )


def _records(folder: Path) -> dict[tuple[str, int], _Record]:
    """The records of a run, by their hash; the second of two equal ones has the number 1."""
    records: dict[tuple[str, int], _Record] = {}
    placed: dict[int, _Record] = {}
    seen: dict[str, int] = {}
    for row in decoded_rows(folder, PREDICTIONS, read_answer):
        if row.record_sha256 is None:
            continue
        record = placed.get(row.index)
        if record is None:
            times = seen.get(row.record_sha256, 0)
            seen[row.record_sha256] = times + 1
            record = placed[row.index] = _Record(row.index)
            records[row.record_sha256, times] = record
        if row.is_answered:
            record.target, record.is_answered = row.target or "", True
    return records
