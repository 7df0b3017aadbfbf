"""Answers of judges to metrics: how each question, criterion and item was answered in a run."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from math import fsum

import numpy as np
from msgspec import UNSET

from steelyard.engine.metrics.columns import Column, LabelColumn
from steelyard.engine.metrics.evidence import rate
from steelyard.model.question_types import QUESTION_TYPES
from steelyard.results.metrics import QuestionMetrics
from steelyard.results.question_facts import GivenValue, QuestionFact
from steelyard.stats.rates import mean_interval

MOST_ITEMS = 500
"""So many criteria or items of one check are listed one by one; questions always are."""
MOST_VALUES = 256
"""So many different answers to one question are counted one by one."""
_POOLED = {"criterion": "criteria", "item": "items"}
"""What belongs to a case is also counted all together, under the name of its check."""
_RATES = {
    *(one.name for one in QUESTION_TYPES.values() if one.is_rate),
    *(*_POOLED, *_POOLED.values()),
}


class QuestionTally:
    """Gathers answers in a few bytes a record and question, whatever the number of records."""

    def __init__(self) -> None:
        self._checks: dict[str, _CheckItems] = {}

    def add(self, check: str, answers: Mapping[str, AnswerSums], record: int) -> None:
        """Take in what one check asked about one record, in all of its repeats."""
        if not answers:
            return
        if check not in self._checks:
            self._checks[check] = _CheckItems()
        self._checks[check].add(answers, record)

    def summary(self, clusters: LabelColumn) -> dict[str, QuestionMetrics]:
        """The figures by question; where two have one name, by check and question."""
        rows = [
            (check, name, tally)
            for check, items in self._checks.items()
            for name, tally in items.tallies(check)
        ]
        taken = Counter(name for _, name, _ in rows)
        return {
            name if taken[name] == 1 else f"{check}/{name}": tally.summary(check, clusters)
            for check, name, tally in rows
        }


class AnswerSums:
    """The answers to one question about one record."""

    def __init__(self, fact: QuestionFact) -> None:
        self.type = fact.type
        self.asked = fact.asked
        self.values: list[GivenValue] = []
        self.unanswered = 0

    def add(self, fact: QuestionFact) -> None:
        self.values.extend(fact.values)
        self.unanswered += fact.unanswered


def answers_by_item(facts: Iterable[QuestionFact]) -> dict[str, AnswerSums]:
    """What was asked about one record, the answers of all repeats and turns together."""
    found: dict[str, AnswerSums] = {}
    for fact in facts:
        if fact.item not in found:
            found[fact.item] = AnswerSums(fact)
        found[fact.item].add(fact)
    return found


class _CheckItems:
    """What one check asks about."""

    def __init__(self) -> None:
        self._items: dict[str, _ItemTally] = {}
        self._pools: dict[str, _ItemTally] = {}
        self._mixed: set[str] = set()
        self._is_full = False

    def add(self, asked: Mapping[str, AnswerSums], record: int) -> None:
        """Take in one record."""
        for name, answers in asked.items():
            self._add_item(name, answers, record)
        kinds = {answers.type for answers in asked.values()}
        for kind, pooled in _POOLED.items():
            if kind not in kinds:
                continue
            if kind not in self._pools:
                self._pools[kind] = _ItemTally(pooled, kind)
            of_kind = [answers for answers in asked.values() if answers.type == kind]
            values = [value for answers in of_kind for value in answers.values]
            unanswered = sum(answers.unanswered for answers in of_kind)
            self._pools[kind].add(values, unanswered, record)

    def _add_item(self, name: str, answers: AnswerSums, record: int) -> None:
        known = self._items.get(name)
        if known is None:
            if answers.type in _POOLED and len(self._items) == MOST_ITEMS:
                self._is_full = True
                return
            known = self._items[name] = _ItemTally(answers.type, answers.asked)
        if known.asked != answers.asked:
            self._mixed.add(name)
        known.add(answers.values, answers.unanswered, record)

    def tallies(self, check: str) -> list[tuple[str, _ItemTally]]:
        """The pools under the check's name, then the items that ask every record the same.

        Criteria of a name that mean something else in every case say nothing together; nor is
        a part of them listed where there are more than can be.
        """
        listed = [(name, tally) for name, tally in self._items.items() if name not in self._mixed]
        if self._is_full:
            listed = [(name, tally) for name, tally in listed if tally.type not in _POOLED]
        for pool in self._pools.values():
            pool.listed = len(listed)
        return [*((check, pool) for pool in self._pools.values()), *listed]


class _ItemTally:
    """One question, criterion or item over all records."""

    def __init__(self, kind: str, asked: str) -> None:
        self.type = kind
        self.asked = asked
        self._means = Column()
        self._records = array("i")
        """The record of each mean."""
        self._counts: Counter[GivenValue] | None = Counter()
        self.listed: int | None = None
        """Of a pool: how many of what is in it have figures of their own."""
        self._answers = 0
        self._unanswered = 0

    def add(self, values: list[GivenValue], unanswered: int, record: int) -> None:
        """The answers about one record."""
        self._answers += len(values)
        self._unanswered += unanswered
        numbers = [value for value in values if isinstance(value, (int, float))]
        if numbers:
            self._means.append(fsum(numbers) / len(numbers))
            self._records.append(record)
        for value in values:
            self._count(value)

    def _count(self, value: GivenValue) -> None:
        if self._counts is None:
            return
        # An answer of several options counts for each of them.
        for one in value if isinstance(value, tuple) else (value,):
            self._counts[one] = self._counts.get(one, 0) + 1
        if len(self._counts) > MOST_VALUES:
            self._counts = None

    def summary(self, check: str, clusters: LabelColumn) -> QuestionMetrics:
        """Its figures; the mean is over records, each of which counts once.

        Scores of questions have no bounds that are known here.
        """
        is_rate = self.type in _RATES
        labels = clusters.of(np.frombuffer(self._records, dtype=np.int32))
        if is_rate:
            mean = rate(self._means, None, labels, rows=self._answers)
        else:
            mean = mean_interval(self._means.numbers(), labels, bounds=None)
        return QuestionMetrics(
            check=check,
            type=self.type,
            answered=self._answers,
            unanswered=self._unanswered,
            counts=None if self._counts is None else _named(self._counts),
            mean=mean if len(self._means) else None,
            listed=UNSET if self.listed is None else self.listed,
        )


def _named(counts: Mapping[GivenValue, int]) -> dict[str, int]:
    """The counts by answer, numbers upwards, then texts."""
    order = sorted(counts, key=lambda value: (isinstance(value, str), value))
    return {str(value): counts[value] for value in order}
