"""The records of a run as a comparison needs them, from its artifacts alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from steelyard.results.predictions import PREDICTIONS, Slices
from steelyard.results.projections import COMPOSITE, SCORED, GradedCheck, read_graded
from steelyard.usecases.results.read_run import decoded_rows

_NO_CHECKS: frozenset[str] = frozenset()


@dataclass(slots=True)
class PairedRecord:
    """A record of a run: what its repeats come to."""

    index: int
    record_id: str | None
    cluster: str | None
    slices: Slices
    tries: int = 0
    scored: int = 0
    passes: int = 0
    total: float = 0.0
    """The sum of its scores."""
    reason: str | None = None
    """Of the first repeat that did not pass."""
    is_invalid: bool = False
    """Whether the record does not keep to its contract."""
    always: frozenset[str] = _NO_CHECKS
    """The checks that graded all of its scored repeats; others were skipped."""
    ever: frozenset[str] = _NO_CHECKS
    """The checks that graded any of them."""

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


def read_records(folder: Path) -> dict[tuple[str, int], PairedRecord]:
    """The records of a run, by their hash; the second of two equal ones has the number 1."""
    records: dict[tuple[str, int], PairedRecord] = {}
    by_index: dict[int, PairedRecord] = {}
    seen: dict[str, int] = {}
    sets = _CheckSets()
    for row in decoded_rows(folder, PREDICTIONS, read_graded):
        sha256 = row.record_sha256
        if sha256 is None:
            continue
        record = by_index.get(row.index)
        if record is None:
            times = seen.get(sha256, 0)
            seen[sha256] = times + 1
            record = PairedRecord(row.index, row.record_id, row.cluster, row.slices)
            by_index[row.index] = records[sha256, times] = record
        record.tries += 1
        record.is_invalid = row.status == "invalid_record"
        if row.status != "evaluated" or row.passed is None or row.score is None:
            continue
        graded = sets.of(row.evaluator_scores)
        record.always = record.always & graded if record.scored else graded
        record.ever = record.ever | graded if record.scored else graded
        record.scored += 1
        record.passes += row.passed
        record.total += row.score
        if not row.passed and record.reason is None:
            record.reason = row.reason
    return records


class _CheckSets:
    """Which checks graded a row; most rows share one set."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], frozenset[str]] = {}

    def of(self, results: tuple[GradedCheck, ...]) -> frozenset[str]:
        """Those with a score, the checks within composites by their path."""
        if any(one.kind == COMPOSITE for one in results):
            names = tuple(self._names(results, ""))
        else:
            names = tuple([one.check for one in results if one.status == SCORED])
        return self._known.setdefault(names, frozenset(names))

    def _names(self, results: tuple[GradedCheck, ...], path: str) -> Iterator[str]:
        for one in results:
            if one.status == SCORED:
                yield f"{path}{one.check}"
                if one.kind == COMPOSITE:
                    yield from self._names(one.inner(), f"{path}{one.check} / ")
