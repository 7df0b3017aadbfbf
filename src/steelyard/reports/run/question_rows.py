"""How judges answered each question, criterion and item of a run, as rows and as lines."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.question_types import QUESTION_TYPES
from steelyard.model.statistics.interval import Interval
from steelyard.reports.numbers import count, mean_text, rate_text
from steelyard.results.metrics import Metrics, QuestionMetrics
from steelyard.stats.intervals import wilson

_MOST_ANSWERS = 12
_MOST_ROWS = 100
_MOST_LINES = 12
_MET = ("not met", "met")
_OF_CASES = {"criterion", "criteria", "item", "items"}


class GivenAnswer(FrozenStruct, frozen=True, kw_only=True):
    """One answer to a question."""

    word: str
    number: int
    share: Interval | None
    """Of the answers; None where several are about one record and thus depend on each other."""


class QuestionRow(FrozenStruct, frozen=True, kw_only=True):
    """One question, criterion or item; or all criteria of a check together."""

    name: str
    check: str
    type: str
    about: str
    """What it is asked about, as far as that is known: `turns`, else empty."""
    answered: int
    unanswered: int
    mean: Interval | None
    is_rate: bool
    """Whether the mean is the share of yes."""
    answers: tuple[GivenAnswer, ...]
    """Empty where there are too many different ones."""

    @property
    def mean_text(self) -> str:
        """The mean with its interval; empty where answers have no order."""
        if self.mean is None:
            return ""
        return rate_text(self.mean) if self.is_rate else mean_text(self.mean)


class QuestionTable(FrozenStruct, frozen=True, kw_only=True):
    """The questions of a run."""

    rows: tuple[QuestionRow, ...]
    more: int
    """How many are left to metrics_summary.json."""


def question_table(metrics: Metrics) -> QuestionTable | None:
    """The table; None where no judge was asked a question."""
    found = metrics.questions
    if not found:
        return None
    shown = list(found.items())[:_MOST_ROWS]
    rows = tuple(_row(name, one, metrics) for name, one in shown)
    return QuestionTable(rows=rows, more=len(found) - len(rows))


def question_lines(metrics: Metrics) -> Iterator[tuple[str, str]]:
    """Each question with its figures in words."""
    table = question_table(metrics)
    if table is None:
        return
    for row in table.rows[:_MOST_LINES]:
        yield row.name, _line(row)
    left = len(table.rows) + table.more - _MOST_LINES
    if left > 0:
        yield "", f"and {count(left)} more in metrics_summary.json"


def _row(name: str, one: QuestionMetrics, metrics: Metrics) -> QuestionRow:
    asked = one.answered + one.unanswered
    is_about_turns = asked > metrics.rows and one.type not in _OF_CASES
    is_independent = not is_about_turns and metrics.repeats is None and one.type not in _OF_CASES
    kind = QUESTION_TYPES.get(one.type)
    return QuestionRow(
        name=name,
        check=one.check,
        type=one.type,
        about="turns" if is_about_turns else "",
        answered=one.answered,
        unanswered=one.unanswered,
        mean=one.mean,
        is_rate=one.type in _OF_CASES or (kind is not None and kind.is_rate),
        answers=tuple(_answers(one, is_independent=is_independent)),
    )


def _answers(one: QuestionMetrics, *, is_independent: bool) -> Iterator[GivenAnswer]:
    counts = one.counts or {}
    if len(counts) > _MOST_ANSWERS:
        return
    kind = QUESTION_TYPES.get(one.type)
    words = _MET if one.type in _OF_CASES else kind.words if kind else ()
    for answer, number in counts.items():
        is_place = answer.isdecimal() and int(answer) < len(words)
        yield GivenAnswer(
            word=words[int(answer)] if is_place else answer,
            number=number,
            share=wilson(number, one.answered) if is_independent and one.answered else None,
        )


def _line(row: QuestionRow) -> str:
    about = f" about {row.about}" if row.about else ""
    parts = [f"{row.mean_text}  n = {count(row.mean.n)}" if row.mean else "", _shares(row)]
    given = f"{count(row.answered)} answers{about}" if row.answered != 1 else f"1 answer{about}"
    rest = f", {count(row.unanswered)} without an answer" if row.unanswered else ""
    return "; ".join(part for part in (*parts, f"{given}{rest}") if part)


def _shares(row: QuestionRow) -> str:
    """How often each answer was given; the share of yes says it already."""
    if row.is_rate:
        return ""
    return ", ".join(f"{one.word}: {count(one.number)}" for one in row.answers)
