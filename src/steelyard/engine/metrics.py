"""Facts to metrics: every number with its denominator, its interval and its method."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, cast

from steelyard.contracts.run_artifacts.facts import CheckFact, Facts
from steelyard.contracts.run_artifacts.rows import FAILURES
from steelyard.engine.columns import Column, mean_of, rate
from steelyard.engine.judging_metrics import JudgingTally
from steelyard.engine.question_metrics import QuestionTally
from steelyard.engine.slice_metrics import repeats_row, tell_apart
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.stats.intervals import Interval
from steelyard.stats.summaries import distribution, percentiles

FAILED = ("invalid_record", "timeout", "evaluation_error")
SKIPPED = ("skipped", "cancelled")


def metrics_of(facts: Iterable[Facts]) -> tuple[JsonObject, JsonObject]:
    """The summary of a run, and the same for each slice; repeats of a record come in a row."""
    whole = _Tally()
    slices: dict[tuple[str, str | None], _Tally] = {}
    clusters: dict[str, int] = {}
    for _, repeats in groupby(facts, key=attrgetter("index")):
        record = _record([*repeats], clusters)
        whole.add(record)
        for key in record.repeats[0].slices:
            if key not in slices:
                slices[key] = _Tally()
            slices[key].add(record)
    names = sorted(slices, key=lambda key: (key[0], key[1] is None, key[1] or ""))
    rows = [{"slice": key[0], "value": key[1], **slices[key].summary()} for key in names]
    summary = whole.summary()
    tell_apart(summary, rows, is_grouped=whole.is_grouped)
    return summary, {"slices": cast("list[JsonValue]", rows)}


class _Found(NamedTuple):
    """What a check, or all of them, found in a record: the mean over its scored repeats."""

    passed: float
    score: float
    raw_score: float = 0.0


class _Record(NamedTuple):
    """The repeats of one record, and what they come to."""

    repeats: list[Facts]
    status: str
    found: _Found | None
    cluster: int
    """Shared by the records of a conversation; negative for a record of its own."""
    checks: dict[str, tuple[list[CheckFact], _Found | None]]


def _record(repeats: list[Facts], clusters: dict[str, int]) -> _Record:
    """A record is evaluated when a repeat of it is."""
    first = repeats[0]
    if len(repeats) == 1 and first.status == "evaluated":
        cluster = -1 - first.index
        if first.cluster is not None:
            cluster = clusters.setdefault(first.cluster, len(clusters))
        return _Record(repeats, "evaluated", _mean(repeats), cluster, _single(first.checks))
    scored = [facts for facts in repeats if facts.status == "evaluated"]
    cluster = -1 - first.index
    if first.cluster is not None:
        cluster = clusters.setdefault(first.cluster, len(clusters))
    checks: dict[str, list[CheckFact]] = {}
    for facts in repeats:
        for check in facts.checks:
            if check.check in checks:
                checks[check.check].append(check)
            else:
                checks[check.check] = [check]
    return _Record(
        repeats=repeats,
        status="evaluated" if scored else _unscored_status(repeats),
        found=_mean(scored),
        cluster=cluster,
        checks={
            name: (made, _mean([check for check in made if check.status == "scored"]))
            for name, made in checks.items()
        },
    )


def _unscored_status(repeats: Sequence[Facts]) -> str:
    """What became of a record without a score: a failure tells more than a repeat never asked."""
    statuses = [facts.status for facts in repeats]
    failed = (status for status in statuses if status in FAILED)
    return next(failed, "cancelled" if "cancelled" in statuses else statuses[0])


def _single(checks: Sequence[CheckFact]) -> dict[str, tuple[list[CheckFact], _Found | None]]:
    """The checks of a record that was asked once."""
    return {one.check: ([one], _mean([one]) if one.status == "scored" else None) for one in checks}


def _mean(scored: Sequence[Facts | CheckFact]) -> _Found | None:
    if not scored:
        return None
    n = len(scored)
    if n == 1:
        one = scored[0]
        raw = one.raw_score if isinstance(one, Facts) else None
        return _Found(float(bool(one.passed)), one.score or 0.0, raw or 0.0)
    return _Found(
        sum(bool(one.passed) for one in scored) / n,
        sum(one.score or 0.0 for one in scored) / n,
        sum(one.raw_score or 0.0 for one in scored if isinstance(one, Facts)) / n,
    )


class _Tally:
    """Gathers the records of a run or a slice in a few bytes a record."""

    def __init__(self) -> None:
        self._statuses: dict[str, int] = {}
        self._rows = 0
        self._failure_rows = 0
        self._passes = Column()
        self._scores = Column()
        self._raw = Column()
        self._clusters: array[int] | None = None
        self._latencies = array("d")
        self._tokens = [0, 0]
        self._token_rows = 0
        self._cost = 0.0
        self._cost_rows = 0
        self._attempts = 0
        self._retried = 0
        self._unscored = 0
        self._cached = 0
        self._saved = 0.0
        self._checks: dict[str, _CheckTally] = {}
        self._tries: Counter[tuple[int, int]] = Counter()
        self._questions = QuestionTally()
        self._judging = JudgingTally()

    def add(self, record: _Record) -> None:
        """Take in one record."""
        self._statuses[record.status] = self._statuses.get(record.status, 0) + 1
        if record.found:
            if self._clusters is None and record.cluster >= 0:
                # Until now every record stood for itself.
                self._clusters = array("q", range(-1, -1 - len(self._passes), -1))
            if self._clusters is not None:
                self._clusters.append(record.cluster)
            self._passes.append(record.found.passed)
            self._scores.append(record.found.score)
            self._raw.append(record.found.raw_score)
        repeats = record.repeats
        if len(repeats) > 1:
            scored = [facts.passed for facts in repeats if facts.status == "evaluated"]
            self._tries[sum(map(bool, scored)), len(scored)] += 1
        is_retried = is_asked = False
        for facts in repeats:
            self._add_row(facts)
            is_retried = is_retried or facts.attempts > 1
            is_asked = is_asked or bool(facts.questions)
        self._retried += is_retried
        for name, (made, found) in record.checks.items():
            if name not in self._checks:
                self._checks[name] = _CheckTally(made[0].kind)
            self._checks[name].add(made, found)
            if is_asked:
                asked = [one for facts in repeats for one in facts.questions.get(name, ())]
                self._questions.add(name, asked)

    @property
    def is_grouped(self) -> bool:
        """Whether records of one conversation, or repeats of one case, are alike."""
        return self._clusters is not None or bool(self._tries)

    def _add_row(self, facts: Facts) -> None:
        self._rows += 1
        self._failure_rows += facts.status in FAILURES
        self._attempts += facts.attempts
        self._unscored += facts.status == "evaluation_error" and facts.answered
        if facts.judging:
            self._judging.add(facts.judging)
        if facts.cost_usd is not None:
            self._cost += facts.cost_usd
            self._cost_rows += 1
        if facts.is_cached:
            # Nobody was asked: its time and tokens are those of another record.
            self._cached += 1
            self._saved += facts.saved_usd or 0.0
            return
        if facts.latency_ms is not None:
            self._latencies.append(facts.latency_ms)
        if facts.input_tokens is not None or facts.output_tokens is not None:
            self._tokens[0] += facts.input_tokens or 0
            self._tokens[1] += facts.output_tokens or 0
            self._token_rows += 1

    def summary(self) -> JsonObject:
        """The metrics."""
        count = self._statuses.get
        total = sum(self._statuses.values())
        p50, p95 = percentiles(self._latencies, (50, 95))
        passes, evaluated = self._passes.total(), len(self._passes)
        return {
            "total_records": total,
            "valid_records": total - count("invalid_record", 0),
            "evaluated_records": evaluated,
            "failed_records": sum(count(status, 0) for status in FAILED),
            "skipped_records": sum(count(status, 0) for status in SKIPPED),
            "invalid_records": count("invalid_record", 0),
            "cancelled_records": count("cancelled", 0),
            "rows": self._rows,
            "failure_rows": self._failure_rows,
            "pass_count": _whole(passes),
            "fail_count": _whole(evaluated - passes),
            "unscored_count": self._unscored,
            "pass_rate": _interval(rate(self._passes, self._clusters)),
            "pass_rate_bounds": _bounds(passes, evaluated, total),
            "score": _interval(_clipped(mean_of(self._raw, self._clusters))),
            "score_distribution": list(_distribution(self._scores)),
            "latency_ms": {"p50": p50, "p95": p95, "n": len(self._latencies)},
            "tokens": {
                "input": self._tokens[0] if self._token_rows else None,
                "output": self._tokens[1] if self._token_rows else None,
                "total": sum(self._tokens) if self._token_rows else None,
                "n": self._token_rows,
            },
            "cost_usd": {
                "total": self._cost if self._cost_rows else None,
                "n": self._cost_rows,
                "judging": self._judging.cost_usd,
            },
            "judging": self._judging.summary(),
            "checks": {name: tally.summary() for name, tally in self._checks.items()},
            "questions": self._questions.summary(),
            "corrected_pass_rate": None,
            "cache": {"hits": self._cached, "saved_usd": self._saved or None},
            "attempts": self._attempts,
            "retried_records": self._retried,
            "repeats": repeats_row(self._tries),
        }


class _CheckTally:
    """One check over all records."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._scores = Column()
        self._passes = Column()
        self._other = {"skipped": 0, "unscored": 0}

    def add(self, repeats: list[CheckFact], found: _Found | None) -> None:
        if found:
            self._passes.append(found.passed)
            self._scores.append(found.score)
            if len(repeats) == 1:
                return
        for check in repeats:
            if check.status != "scored":
                self._other[check.status] += 1

    def summary(self) -> JsonObject:
        n = len(self._scores)
        return {
            "kind": self._kind,
            "pass_rate": _interval(rate(self._passes)),
            "mean_score": self._scores.total() / n if n else None,
            "skipped": self._other["skipped"],
            "unscored": self._other["unscored"],
        }


def _distribution(scores: Column) -> list[int]:
    counts = scores.counts()
    if counts is None:
        return distribution(scores.numbers())
    return distribution(list(counts), list(counts.values()))


def _clipped(found: Interval) -> Interval:
    """The mean of raw scores, which may be negative, clipped to [0, 1] afterwards."""
    return replace(found, value=_clip(found.value), low=_clip(found.low), high=_clip(found.high))


def _clip(number: float | None) -> float | None:
    return None if number is None else min(1.0, max(0.0, number))


def _whole(number: float) -> float:
    """Counts are whole unless repeats of a case disagree."""
    return int(number) if number == int(number) else number


def _interval(found: Interval) -> JsonObject:
    row: JsonObject = asdict(found)
    return row


def _bounds(passes: float, evaluated: int, total: int) -> JsonObject:
    """The pass rate if every record without a score had failed, or had passed."""
    if total == 0:
        return {"low": None, "high": None}
    return {"low": passes / total, "high": (passes + total - evaluated) / total}
