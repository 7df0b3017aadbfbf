"""The rows of a run as JSON Lines and as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from steelyard.formats.csv_line import csv_line
from steelyard.reports.asked_text import expected_text, request_text
from steelyard.results.predictions import PREDICTIONS, Prediction
from steelyard.results.projections import read_graded
from steelyard.results.records import RecordQuery
from steelyard.usecases.results.read_run import decoded_rows
from steelyard.usecases.results.records import Records, list_predictions

_AT_ONCE = 500

COLUMNS = (
    "index",
    "record_id",
    "record_sha256",
    "target",
    "repeat",
    "status",
    "request",
    "expected",
    "score",
    "raw_score",
    "passed",
    "reason",
    "model_response",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cost_usd",
    "latency_ms",
    "first_token_ms",
    "first_attempt_at",
    "last_attempt_at",
    "response_source",
)


def export_jsonl(rows: Iterable[Prediction]) -> Iterator[str]:
    """The rows unchanged."""
    for row in rows:
        yield json.dumps(row.json(), ensure_ascii=False) + "\n"


def check_names(folder: Path) -> list[str]:
    """The checks of a run, in the order of its predictions."""
    rows = decoded_rows(folder, PREDICTIONS, read_graded)
    return list(dict.fromkeys(score.check for row in rows for score in row.evaluator_scores))


def matching_predictions(records: Records, query: RecordQuery) -> Iterator[Prediction]:
    """All records of a query with all that is stored of them, some at a time."""
    page = list_predictions(records, query, limit=_AT_ONCE)
    yield from page.rows
    while page.next_cursor:
        page = list_predictions(records, query, cursor=page.next_cursor, limit=_AT_ONCE)
        yield from page.rows


def cells(row: Prediction, checks: Sequence[str]) -> list[Any]:
    """A row with the request as text, and the score of each check."""
    scores = {score.check: score.score for score in row.evaluator_scores}
    texts = {"request": request_text(row), "expected": expected_text(row)}
    values = [texts[name] if name in texts else getattr(row, name) for name in COLUMNS]
    return [*values, *(scores.get(name) for name in checks)]


def export_csv(rows: Iterable[Prediction], checks: Sequence[str]) -> Iterator[str]:
    """One line per row, with a column for the score of each check.

    Text that a spreadsheet would run as a formula gets a leading apostrophe.
    """
    yield csv_line([*COLUMNS, *(f"check:{name}" for name in checks)])
    yield from (csv_line(cells(row, checks)) for row in rows)
