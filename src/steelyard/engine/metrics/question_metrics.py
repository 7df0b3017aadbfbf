"""Answers of judges to metrics: how each question, criterion and item was answered in a run."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from msgspec import UNSET, json

from steelyard.engine.metrics.columns import Column, LabelColumn
from steelyard.engine.metrics.evidence import rate
from steelyard.engine.metrics.fact_batches import Members
from steelyard.model.question_types import QUESTION_TYPES
from steelyard.results.metrics import QuestionMetrics
from steelyard.results.question_facts import GivenValue, QuestionFact
from steelyard.stats.arrays import np
from steelyard.stats.rates import mean_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ITEMS = 500
"""So many criteria or items of one check are listed one by one; questions always are."""
MOST_VALUES = 256
"""So many different answers to one question are counted one by one."""
_MOST_SHEETS = 4096
"""So many different ones are kept before they are counted."""
_POOLED = {"criterion": "criteria", "item": "items"}
"""What belongs to a case is also counted all together, under the name of its check."""
_RATES = {
    *(one.name for one in QUESTION_TYPES.values() if one.is_rate),
    *(*_POOLED, *_POOLED.values()),
}


AnswerSheet: TypeAlias = "Mapping[str, Mapping[str, AnswerSums]]"
"""What was answered about a record, by check and item."""
_Asked: TypeAlias = "Mapping[str, Sequence[QuestionFact]]"
_encode = json.Encoder().encode
_Given: TypeAlias = "tuple[_ItemTally, list[GivenValue], int]"


class AnswerSheets:
    """The answers about records, of which many are alike, until they are counted."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self._known: dict[bytes, int] = {}
        self._sheets: list[AnswerSheet] = []
        self._records, self._which = array("i"), array("i")
        self.tallies: defaultdict[int, QuestionTally] = defaultdict(QuestionTally)
        """Of the whole run, which is number 0, and of every slice that has any."""

    def extend(self, asked: Sequence[_Asked], records: Sequence[int]) -> None:
        """What was asked about records, in all of their repeats; records come upwards."""
        # As JSON, in which 1 and 1.0 differ as they do where they are shown.
        made_of = list(map(_encode, asked))
        places = list(map(self._known.get, made_of))
        if None in places:
            for row in zip(made_of, asked, records, strict=True):
                self._add(*row)
            return
        self._records.extend(records)
        self._which.extend(cast("list[int]", places))

    def _add(self, made_of: bytes, questions: _Asked, record: int) -> None:
        place = self._known.get(made_of)
        if place is None:
            if len(self._sheets) == _MOST_SHEETS:
                self.count()
            place = self._known[made_of] = len(self._sheets)
            found = {name: answers_by_item(facts) for name, facts in questions.items() if facts}
            self._sheets.append(found)
        self._records.append(record)
        self._which.append(place)

    def count(self) -> None:
        """Count what was added since, for the whole run and for every slice."""
        if not self._records:
            return
        records = np.array(self._records, dtype=np.int32)
        which = np.array(self._which, dtype=np.int32)
        self.tallies[0].add(self._sheets, which, records)
        first, last = int(records[0]), int(records[-1])
        for number in self._members.slices.values():
            members = cast("NDArray[Any]", self._members.records(number))
            start, end = np.searchsorted(members, (first, last + 1))
            places = np.searchsorted(records, members[start:end])
            chosen = places[records[places] == members[start:end]]
            if len(chosen):
                self.tallies[number].add(self._sheets, which[chosen], records[chosen])
        self._known.clear()
        self._sheets.clear()
        self._records, self._which = array("i"), array("i")


class QuestionTally:
    """Gathers answers in a few bytes a record and question, whatever the number of records."""

    def __init__(self) -> None:
        self._checks: dict[str, _CheckItems] = {}

    def add(
        self, sheets: Sequence[AnswerSheet], which: NDArray[Any], records: NDArray[Any]
    ) -> None:
        """Take in records, upwards, each with the place of the sheet that was filled in for it.

        A sheet is looked at once, in the order in which sheets come, however many records have it.
        """
        found, first, place, times = np.unique(
            which, return_index=True, return_inverse=True, return_counts=True
        )
        means: dict[_ItemTally, dict[int, float]] = {}
        for number in np.argsort(first).tolist():
            count = int(times[number])
            for check, answers in sheets[int(found[number])].items():
                if check not in self._checks:
                    self._checks[check] = _CheckItems()
                for tally, values, unanswered in self._checks[check].tallies_of(answers):
                    mean = tally.add(values, unanswered, count)
                    if mean is not None:
                        means.setdefault(tally, {})[number] = mean
        for tally, by_sheet in means.items():
            of_sheets = np.full(len(found), np.nan)
            of_sheets[list(by_sheet)] = list(by_sheet.values())
            of_records = of_sheets[place]
            known = ~np.isnan(of_records)
            tally.add_means(list(by_sheet.values()), of_records[known], records[known])

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

    def tallies_of(self, asked: Mapping[str, AnswerSums]) -> Iterator[_Given]:
        """What counts the answers about a record, each with those that it counts."""
        for name, answers in asked.items():
            tally = self._tally_of(name, answers)
            if tally:
                yield tally, answers.values, answers.unanswered
        kinds = {answers.type for answers in asked.values()}
        for kind, pooled in _POOLED.items():
            if kind not in kinds:
                continue
            if kind not in self._pools:
                self._pools[kind] = _ItemTally(pooled, kind)
            of_kind = [answers for answers in asked.values() if answers.type == kind]
            values = [value for answers in of_kind for value in answers.values]
            unanswered = sum(answers.unanswered for answers in of_kind)
            yield self._pools[kind], values, unanswered

    def _tally_of(self, name: str, answers: AnswerSums) -> _ItemTally | None:
        known = self._items.get(name)
        if known is None:
            if answers.type in _POOLED and len(self._items) == MOST_ITEMS:
                self._is_full = True
                return None
            known = self._items[name] = _ItemTally(answers.type, answers.asked)
        if known.asked != answers.asked:
            self._mixed.add(name)
        return known

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

    def add(self, values: list[GivenValue], unanswered: int, times: int) -> float | None:
        """The answers about so many records, each with the same; their mean, if they have one."""
        self._answers += len(values) * times
        self._unanswered += unanswered * times
        for value in values:
            self._count(value, times)
        numbers = [value for value in values if isinstance(value, (int, float))]
        return fsum(numbers) / len(numbers) if numbers else None

    def add_means(
        self, different: Sequence[float], means: NDArray[Any], records: NDArray[Any]
    ) -> None:
        """The means of records, upwards, and in which order different ones come."""
        self._means.learn(different)
        self._means.extend(means)
        self._records.frombytes(records.astype(np.int32).tobytes())

    def _count(self, value: GivenValue, times: int) -> None:
        if self._counts is None:
            return
        # An answer of several options counts for each of them.
        for one in value if isinstance(value, tuple) else (value,):
            self._counts[one] = self._counts.get(one, 0) + times
        if len(self._counts) > MOST_VALUES:
            self._counts = None

    def summary(self, check: str, clusters: LabelColumn) -> QuestionMetrics:
        """Its figures; the mean is over records, each of which counts once.

        Scores of questions have no bounds that are known here.
        """
        is_rate = self.type in _RATES
        labels = clusters.of_records(np.frombuffer(self._records, dtype=np.int32))
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
