"""A run as one self-contained HTML file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from steelyard.reports.asked_text import expected_text, question_and_context
from steelyard.reports.comparison.record_pair import CheckReason, check_reasons
from steelyard.reports.html.legible_text import legible
from steelyard.reports.html.short_records import (
    ShortRecord,
    ShortRecords,
    shortened_to,
    text_length,
)
from steelyard.reports.html.single_file import single_files
from steelyard.reports.record.trace_view import TraceView, trace_view
from steelyard.reports.record_name import record_name
from steelyard.reports.run.heat_rows import HeatTable, heat_table
from steelyard.reports.run.made_text import made_lines
from steelyard.reports.run.question_rows import QuestionTable, question_table
from steelyard.reports.run.repeats_text import bounds_text, estimate_text
from steelyard.reports.run.run_summary import RunSummary, summary_of
from steelyard.reports.run.run_text import RunView
from steelyard.reports.verdict_words import VerdictWord, row_word
from steelyard.results.metrics import CheckMetrics, TriesMetrics
from steelyard.results.predictions import Prediction

SHOWN = 200
"""The most records that passed, of those that are shown whole."""
SHOWN_FAILED = 1_000
"""The same of those that failed, and of those without a score."""
MAX_BYTES = 4 * 1024 * 1024
"""The most bytes of whole conversations in each list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRecord:
    """A record of a list, with what is in its fold."""

    name: str
    word: VerdictWord
    question: str
    reason: str
    trace: TraceView
    answer: str | None
    """The answer of a record without a trace; else None."""
    expected: str | None
    checks: tuple[CheckReason, ...]
    latency_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordList:
    """All records of a list: the first ones whole, the others in short form."""

    records: Sequence[ReportedRecord]
    short: ShortRecords

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.records) + len(self.short.records)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """The data of the template."""

    view: RunView
    summary: RunSummary
    failed: RecordList
    unscored: RecordList
    """Records without a score: neither a fail nor a pass."""
    passed: RecordList
    pruned: str | None
    """The day on which the records were pruned; None where they are there."""
    heat: HeatTable | None
    questions: QuestionTable | None
    checks: Sequence[tuple[str, CheckMetrics]]
    repeats: Sequence[TriesMetrics]
    """pass@k and pass^k, by k."""
    made: Sequence[str]
    settings: Sequence[tuple[str, str]]
    """Names with JSON: everything that the run was given."""


def run_html(view: RunView, predictions: Iterable[Prediction], pruned: str | None = None) -> str:
    """The page; it loads no external resources."""
    most = text_length(view.metrics.rows)
    listing = partial(_Listing, most=most, is_repeated=view.is_repeated)
    failed, unscored, passed = listing(SHOWN_FAILED), listing(SHOWN_FAILED), listing(SHOWN)
    for row in predictions:
        scored = passed if row.is_passed else failed
        (scored if row.status == "evaluated" else unscored).add(row)
    setup, repeats = view.manifest.setup, view.metrics.repeats
    page = RunReport(
        view=view,
        summary=summary_of(view),
        failed=failed.list(),
        unscored=unscored.list(),
        passed=passed.list(),
        pruned=pruned,
        heat=None if view.is_of_canaries else heat_table(view.metrics, view.slices),
        questions=question_table(view.metrics),
        checks=list(view.metrics.checks.items()),
        repeats=repeats.by_k if repeats else (),
        made=tuple(made_lines(view)),
        settings=(
            ("Targets", _json(setup.targets)),
            ("Source", _json(setup.source)),
            ("Options", _json(setup.options.json())),
        ),
    )
    template = single_files().get_template("run.html")
    html = template.render(page=page, estimate_text=estimate_text, bounds_text=bounds_text)
    return legible(html)


class _Listing:
    """Takes records, whole ones while there is room."""

    def __init__(self, whole: int, most: int, *, is_repeated: bool) -> None:
        self._records: list[ReportedRecord] = []
        self._short: list[ShortRecord] = []
        self._whole, self._most = whole, most
        self._bytes = 0
        self._is_repeated = is_repeated

    def add(self, row: Prediction) -> None:
        """Take in a record."""
        if len(self._records) == self._whole or self._bytes > MAX_BYTES:
            self._short.append(_short_record(row, self._name(row), self._most))
            return
        self._bytes += len(msgspec.json.encode((row.request, row.trace)))
        self._records.append(_record(row, self._name(row)))

    def _name(self, row: Prediction) -> str:
        return record_name(row.index, row.record_id, row.repeat, is_repeated=self._is_repeated)

    def list(self) -> RecordList:
        """The records so far."""
        return RecordList(
            records=self._records, short=ShortRecords(records=self._short, most=self._most)
        )


def _short_record(row: Prediction, name: str, most: int) -> ShortRecord:
    question, _ = question_and_context(row)
    answer = "an empty answer" if row.model_response == "" else row.model_response
    texts = [("Answer", answer or "no answer"), ("Reason", row.reason or "")]
    return ShortRecord(
        name=name,
        verdicts=(row_word(row),),
        question=shortened_to(question, most),
        texts=tuple((name, shortened_to(text, most)) for name, text in texts if text),
    )


def _record(row: Prediction, name: str) -> ReportedRecord:
    question, _ = question_and_context(row)
    return ReportedRecord(
        name=name,
        word=row_word(row),
        question=question or "",
        reason=row.reason or "",
        trace=trace_view(row),
        answer=None if row.trace else row.model_response,
        expected=expected_text(row),
        checks=tuple(check_reasons(row.evaluator_scores)),
        latency_ms=row.latency_ms,
    )


def _json(value: object) -> str:
    """JSON as text, escaped by the template; `tojson` is for scripts."""
    return json.dumps(value, ensure_ascii=False)
