"""Questions and answers of two runs for the records that only one of them passes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from steelyard.model.statistics.comparison import Comparison, Moved
from steelyard.reports.asked_text import expected_text, request_text
from steelyard.reports.comparison_html import MovedRecord
from steelyard.results.predictions import PREDICTIONS, Prediction, read_prediction
from steelyard.usecases.results.read_run import decoded_rows
from steelyard.usecases.results.request_parts import whole_rows


def moved_records(found: Comparison, a: Path, b: Path, most: int) -> dict[int, MovedRecord]:
    """The first records in each direction, by their index in B."""
    moved = [(one, is_gain) for is_gain, listed in _directions(found) for one in listed[:most]]
    in_a = _rows(a, {one.index_a: not is_gain for one, is_gain in moved})
    in_b = _rows(b, {one.index: is_gain for one, is_gain in moved})
    return {one.index: _record(in_a[one.index_a], in_b[one.index]) for one, _ in moved}


def _directions(found: Comparison) -> tuple[tuple[bool, tuple[Moved, ...]], ...]:
    return (True, found.improvements), (False, found.regressions)


def _rows(folder: Path, passing: Mapping[int, bool]) -> dict[int, Prediction]:
    """One row per record: the first repeat with the wanted outcome."""
    rows: dict[int, Prediction] = {}
    for row in decoded_rows(folder, PREDICTIONS, read_prediction):
        index = row.index
        if index in passing and (index not in rows or _fits(row, rows[index], passing[index])):
            rows[index] = row
    return dict(zip(rows, whole_rows(folder, rows.values()), strict=True))


def _fits(row: Prediction, known: Prediction, shall_pass: bool) -> bool:
    return row.passed is shall_pass and known.passed is not shall_pass


def _record(a: Prediction, b: Prediction) -> MovedRecord:
    """Show both prompts if the targets have different ones."""
    asked_a, asked_b = request_text(a), request_text(b)
    return MovedRecord(
        asked=asked_b if asked_b is not None else asked_a,
        asked_otherwise=asked_a if asked_a != asked_b and asked_b is not None else None,
        expected=expected_text(b) or expected_text(a),
        answer_a=a.model_response,
        answer_b=b.model_response,
    )
