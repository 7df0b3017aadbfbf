"""The facts of a run as columns: what adds up is summed by slice, the rest is kept by record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.engine.metrics.columns import Column, LabelColumn, Places, Times
from steelyard.engine.metrics.evidence import Scores
from steelyard.engine.metrics.fact_batches import (
    Batch,
    Members,
    Sums,
    batches,
    columns_of,
    floats_of,
    where_is,
)
from steelyard.engine.metrics.judging_metrics import add_judging
from steelyard.engine.metrics.question_metrics import AnswerSheets
from steelyard.results.facts import CheckFact, Facts
from steelyard.results.failures import FAILURE_STATUSES
from steelyard.stats.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FAILED = ("invalid_record", "timeout", "evaluation_error")
SKIPPED = ("skipped", "cancelled")
_STATUSES = ("evaluated", *FAILED, *SKIPPED)
_CODES = {status: code for code, status in enumerate(_STATUSES)}
_FAILED_CODES = [_CODES[status] for status in FAILED]


class _Made(NamedTuple):
    """What checks found in some rows, a column for each part of it."""

    records: NDArray[Any]
    scored: NDArray[np.bool_]
    skipped: NDArray[np.bool_]
    passed: NDArray[np.bool_]
    scores: NDArray[np.float64]

    def part(self, rows: NDArray[Any]) -> _Made:
        """Some of the rows."""
        return _Made(
            self.records[rows],
            self.scored[rows],
            self.skipped[rows],
            self.passed[rows],
            self.scores[rows],
        )


class FactTable:
    """All that metrics are made of, in a few bytes a record."""

    def __init__(self, facts: Iterable[Facts]) -> None:
        self.records = 0
        self.repeats = 0
        """The most rows that a record has."""
        self.members = Members()
        self.sums = Sums(self.members)
        self.clusters = LabelColumn()
        self.scored = Scores()
        self.raw = Column()
        """The raw scores of the same records."""
        self.invalid = Places()
        self.latencies, self.first_tokens = Times(), Times()
        self.checks: dict[str, Scores] = {}
        self.kinds: dict[str, str] = {}
        self._sheets = AnswerSheets(self.members)
        self.questions = self._sheets.tallies
        """The answers of judges, of the whole run and of every slice that has any."""
        for batch in batches(facts):
            self._add(batch)
        self._sheets.count()

    def _add(self, batch: Batch) -> None:
        self.members.extend(batch.first_values("slices"))
        self.clusters.extend(batch.first_values("cluster"))
        self.repeats = max(self.repeats, int(batch.sizes.max()))
        statuses = floats_of([_CODES[status] for status in batch.values("status")]).astype(int)
        self._add_statuses(batch, statuses)
        self._add_scores(batch, statuses == 0)
        self._add_cost(batch)
        self._add_checks(batch)
        add_judging(batch, self.sums)
        if any(batch.values("questions")):
            self._add_questions(batch)
        self.records += batch.count

    def _add_statuses(self, batch: Batch, statuses: NDArray[Any]) -> None:
        sums = self.sums
        of_records = _record_statuses(batch, statuses)
        for code, status in enumerate(_STATUSES):
            sums.add(status, of_records == code)
        self.invalid.extend(self.records + np.flatnonzero(of_records == _CODES["invalid_record"]))
        failures = np.isin(statuses, [_CODES[status] for status in FAILURE_STATUSES])
        answered = floats_of(batch.values("answered")) > 0
        attempts = floats_of(batch.values("attempts"))
        sums.add("rows", batch.sizes)
        sums.add("failure_rows", batch.by_record(failures))
        sums.add("unscored", batch.by_record((statuses == _CODES["evaluation_error"]) & answered))
        sums.add("attempts", batch.by_record(attempts))
        sums.add("retried", batch.by_record(attempts > 1) > 0)

    def _add_scores(self, batch: Batch, evaluated: NDArray[np.bool_]) -> None:
        passed, score, raw = (batch.numbers(name)[0] for name in ("passed", "score", "raw_score"))
        tries = batch.by_record(evaluated)
        found = np.flatnonzero(tries)
        n = tries[found]
        scores = batch.by_record(score * evaluated)
        self.scored.extend(
            self.records + found, batch.by_record(passed * evaluated)[found], scores[found], n
        )
        self.raw.extend(batch.by_record(raw * evaluated)[found] / n)
        if batch.has_repeats:
            means = scores / np.maximum(tries, 1)
            spread = (score - means[batch.record]) ** 2
            self.sums.add("score_squares", batch.by_record(spread * evaluated))

    def _add_cost(self, batch: Batch) -> None:
        sums = self.sums
        cost, is_paid = batch.numbers("cost_usd")
        sums.add("cost", batch.by_record(cost))
        sums.add("cost_rows", batch.by_record(is_paid))
        cached = floats_of(batch.values("is_cached")) > 0
        sums.add("cached", batch.by_record(cached))
        sums.add("saved", batch.by_record(batch.numbers("saved_usd")[0] * cached))
        # Nobody was asked for a cached row: its time and tokens are those of another record.
        for name, times in (("latency_ms", self.latencies), ("first_token_ms", self.first_tokens)):
            time, is_timed = batch.numbers(name)
            timed = is_timed & ~cached
            times.extend(self.records + batch.record[timed], time[timed])
        inward, has_input = batch.numbers("input_tokens")
        outward, has_output = batch.numbers("output_tokens")
        sums.add("input_tokens", batch.by_record(inward * ~cached))
        sums.add("output_tokens", batch.by_record(outward * ~cached))
        sums.add("token_rows", batch.by_record((has_input | has_output) & ~cached))

    def _add_checks(self, batch: Batch) -> None:
        checks = batch.values("checks")
        flat: list[CheckFact] = list(chain.from_iterable(checks))
        if not flat:
            return
        column = columns_of(flat, CheckFact.__struct_fields__)
        numbers = {name: number for number, name in enumerate(dict.fromkeys(column["check"]))}
        codes = np.fromiter(map(numbers.__getitem__, column["check"]), np.int64, len(flat))
        made = _Made(
            records=np.repeat(batch.record, np.fromiter(map(len, checks), np.int64, len(checks))),
            scored=where_is("scored", column["status"]),
            skipped=where_is("skipped", column["status"]),
            passed=floats_of(column["passed"]) == 1,
            scores=np.nan_to_num(floats_of(column["score"])),
        )
        self._add_choices(batch, made.records, column["selects"])
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes))
        for name, rows in zip(numbers, np.split(order, ends[:-1]), strict=True):
            if name not in self.checks:
                self.checks[name] = Scores()
                self.kinds[name] = column["kind"][int(rows[0])]
            self._add_check(name, batch, made.part(rows))

    def _add_choices(
        self, batch: Batch, records: NDArray[Any], selects: list[bool | None]
    ) -> None:
        """Count the answers that were read for a choice, and those that select none."""
        if selects.count(None) == len(selects):
            return
        for name, values in (("choice_answers", (True, False)), ("no_choice", (False,))):
            counted = np.array([one in values for one in selects], dtype=np.float64)
            by_record = np.bincount(records, weights=counted, minlength=batch.count)
            self.sums.add(name, by_record)

    def _add_check(self, name: str, batch: Batch, made: _Made) -> None:
        def by_record(values: NDArray[Any]) -> NDArray[Any]:
            return np.bincount(made.records, weights=values, minlength=batch.count)

        tries = by_record(made.scored)
        found = np.flatnonzero(tries)
        self.checks[name].extend(
            self.records + found,
            by_record(made.passed & made.scored)[found],
            by_record(made.scores * made.scored)[found],
            tries[found],
        )
        self.sums.add((name, "made"), by_record(np.ones(len(made.records))))
        if not made.scored.all():
            self.sums.add((name, "skipped"), by_record(made.skipped))
            self.sums.add((name, "unscored"), by_record(~made.scored & ~made.skipped))

    def _add_questions(self, batch: Batch) -> None:
        rows = batch.values("questions")
        if not batch.has_repeats:
            places = [place for place, questions in enumerate(rows) if questions]
            records = [self.records + place for place in places]
            self._sheets.extend([rows[place] for place in places], records)
            return
        asked: defaultdict[int, dict[str, list[Any]]] = defaultdict(dict)
        for record, questions in zip(batch.record.tolist(), rows, strict=True):
            for name, facts in questions.items():
                asked[record].setdefault(name, []).extend(facts)
        self._sheets.extend([*asked.values()], [self.records + record for record in asked])


def _record_statuses(batch: Batch, statuses: NDArray[Any]) -> NDArray[Any]:
    """A record is evaluated when a repeat of it is.

    Of a record without a score a failure tells more than a repeat that was never asked.
    """
    if not batch.has_repeats:
        return statuses
    found = np.where(batch.by_record(statuses == 0) > 0, 0, statuses[batch.firsts])
    for record in np.flatnonzero(found).tolist():
        start = batch.firsts[record]
        of_rows = statuses[start : start + int(batch.sizes[record])].tolist()
        failed = (code for code in of_rows if code in _FAILED_CODES)
        cancelled = _CODES["cancelled"]
        found[record] = next(failed, cancelled if cancelled in of_rows else of_rows[0])
    return found
