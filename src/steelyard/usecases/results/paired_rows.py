"""The records of a run for a comparison, from its artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec

from steelyard.errors import UnreadableFileError
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.projections import (
    COMPOSITE,
    SCORED,
    GradedCheck,
    SliceValues,
    read_graded,
    read_slice_values,
)
from steelyard.usecases.results.read_run import decoded_rows

_NO_CHECKS: frozenset[str] = frozenset()


class PairedRecord(msgspec.Struct, gc=False):
    """A record of a run, aggregated over its repeats."""

    index: int
    record_id: str | None
    cluster: str | None
    slices: SliceValues
    tries: int = 0
    scored: int = 0
    passes: int = 0
    total: float = 0.0
    """The sum of its scores."""
    reason: str | None = None
    """The reason of the first repeat that did not pass."""
    is_invalid: bool = False
    """Whether the record violates its contract."""
    always: frozenset[str] = _NO_CHECKS
    """The checks that graded all scored repeats; others were skipped."""
    ever: frozenset[str] = _NO_CHECKS
    """The checks that graded any of them."""

    @property
    def score(self) -> float:
        """The mean over its scored repeats."""
        return self.total / self.scored


Records: TypeAlias = dict[str, PairedRecord]
"""The records of a run by hash; repeated hashes have a number appended."""


def read_records(folder: Path) -> Records:
    """The records of a run."""
    records: Records = {}
    by_index: dict[int, PairedRecord] = {}
    seen: dict[str, int] = {}
    checks, slices = _CheckSets(), _SliceSets(folder)
    for row in decoded_rows(folder, PREDICTIONS, read_graded):
        sha256 = row.record_sha256
        if sha256 is None:
            continue
        record = by_index.get(row.index)
        if record is None:
            times = seen[sha256] = seen.get(sha256, 0) + 1
            record = PairedRecord(row.index, row.record_id, row.cluster, slices.of(row.slices))
            by_index[row.index] = record
            records[sha256 if times == 1 else f"{sha256} {times}"] = record
        record.tries += 1
        record.is_invalid = row.status == "invalid_record"
        if row.status != "evaluated" or row.passed is None or row.score is None:
            continue
        graded = checks.of(row.evaluator_scores)
        record.always = record.always & graded if record.scored else graded
        record.ever = record.ever | graded if record.scored else graded
        record.scored += 1
        record.passes += row.passed
        record.total += row.score
        if not row.passed and record.reason is None:
            record.reason = row.reason
    return records


class _SliceSets:
    """The slices of rows, cached by their text, which most rows share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[bytes, SliceValues] = {}

    def of(self, text: msgspec.Raw) -> SliceValues:
        """The values of each slice."""
        key = bytes(text)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._read(key)
        return found

    def _read(self, text: bytes) -> SliceValues:
        try:
            return read_slice_values(text)
        except msgspec.DecodeError:
            path = self._folder / PREDICTIONS
            raise UnreadableFileError(f"{path} is damaged; `steelyard verify` says how") from None


class _CheckSets:
    """The checks that graded a row; most rows share one set."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], frozenset[str]] = {}

    def of(self, results: tuple[GradedCheck, ...]) -> frozenset[str]:
        """The checks with a score; those in composites by their path."""
        names = tuple([one.check for one in results if one.status == SCORED])
        if COMPOSITE in [one.kind for one in results]:
            names = tuple(self._names(results, ""))
        found = self._known.get(names)
        if found is None:
            found = self._known[names] = frozenset(names)
        return found

    def _names(self, results: tuple[GradedCheck, ...], path: str) -> Iterator[str]:
        for one in results:
            if one.status == SCORED:
                yield f"{path}{one.check}"
                if one.kind == COMPOSITE:
                    yield from self._names(one.inner(), f"{path}{one.check} / ")
