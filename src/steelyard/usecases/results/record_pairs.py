"""Paired records of two runs: differences, and the number needed to show one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import compress
from operator import attrgetter
from typing import TYPE_CHECKING

from steelyard.model.statistics.detection import Detectable
from steelyard.stats.arrays import np
from steelyard.stats.clustered import coarser
from steelyard.stats.discordance import Discordance, PairedTries, discordance
from steelyard.stats.power import records_to_detect
from steelyard.usecases.results.paired_rows import PairedRecord

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RunColumns:
    """The records of one run as columns of numbers."""

    def __init__(self, records: list[PairedRecord]) -> None:
        self.records = records
        self.tries = self._column("tries")
        self.scored = self._column("scored")
        self.passes = self._column("passes")
        self.missing = self.tries - self.scored
        """The number of repeats of each record without a score."""

    @cached_property
    def passed(self) -> NDArray[np.float64]:
        """The share of the scored repeats of each record that passed."""
        return self.passes / self.scored

    @cached_property
    def score(self) -> NDArray[np.float64]:
        """The mean over the scored repeats of each record."""
        return self._column("total") / self.scored

    def filled(self, missing: NDArray[np.float64], *, is_pass: bool) -> NDArray[np.float64]:
        """`passed` if the missing repeats had passed, or failed."""
        n = self.scored + missing
        shares = (self.passes + missing * is_pass) / np.maximum(n, 1)
        return np.where(n > 0, shares, float(is_pass))

    def _column(self, name: str) -> NDArray[np.float64]:
        values = map(attrgetter(name), self.records)
        return np.fromiter(values, dtype=np.float64, count=len(self.records))


class RecordPairs:
    """The same records in two runs."""

    def __init__(self, pairs: Iterable[tuple[PairedRecord, PairedRecord]]) -> None:
        both = list(pairs)
        self.a = RunColumns([a for a, _ in both])
        self.b = RunColumns([b for _, b in both])

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.a.records)

    @cached_property
    def passed(self) -> NDArray[np.float64]:
        """How much more often B passes each record."""
        return self.b.passed - self.a.passed

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """How much more B scores on each record."""
        return self.b.score - self.a.score

    @property
    def indices(self) -> list[tuple[int, int]]:
        """The indices of each record in A and in B."""
        a, b = (map(attrgetter("index"), side.records) for side in (self.a, self.b))
        return list(zip(a, b, strict=True))

    @property
    def is_uneven(self) -> bool:
        """Whether one run lacks scores that the other has."""
        is_known_once = (self.a.scored > 0) != (self.b.scored > 0)
        return bool((is_known_once | (self.a.missing != self.b.missing)).any())

    def filled(self, *, favours_b: bool) -> NDArray[np.float64]:
        """`passed` with scores that one run lacks filled in, in favour of B or of A."""
        more = self.b.missing - self.a.missing
        b = self.b.filled(np.maximum(more, 0), is_pass=favours_b)
        return b - self.a.filled(np.maximum(-more, 0), is_pass=not favours_b)

    def scored_in_both(self) -> RecordPairs:
        """The pairs with a score in A and in B."""
        return self._where((self.a.scored > 0) & (self.b.scored > 0))

    def scored_in_any(self) -> RecordPairs:
        """The pairs with a score in A or in B."""
        return self._where((self.a.scored > 0) | (self.b.scored > 0))

    def _where(self, kept: NDArray[np.bool_]) -> RecordPairs:
        if kept.all():
            return self
        return RecordPairs(compress(zip(self.a.records, self.b.records, strict=True), kept))

    def clusters(self, places: Sequence[int] | None = None) -> list[int] | None:
        """A cluster number for each conversation; None if all records are independent.

        If the runs group records differently, the fewer groups count: order must not matter.
        """
        known = [
            labels
            for names in self._cluster_names
            if (labels := _numbers(names if places is None else [names[i] for i in places]))
        ]
        return coarser(known[0], known[-1]) if known else None

    @cached_property
    def _cluster_names(self) -> list[list[str | None]]:
        """The clusters of the runs that have any."""
        names = [[one.cluster for one in side.records] for side in (self.a, self.b)]
        return [side for side in names if any(name is not None for name in side)]


def _numbers(names: Sequence[str | None]) -> list[int] | None:
    if all(name is None for name in names):
        return None
    numbers: dict[str, int] = {}
    return [
        -1 - place if name is None else numbers.setdefault(name, len(numbers))
        for place, name in enumerate(names)
    ]


def discordance_of(pairs: RecordPairs) -> Discordance:
    """The share of commonly scored records on which the two runs disagree."""
    clusters = pairs.clusters()
    return discordance(
        PairedTries(pairs.a.passes, pairs.a.scored, pairs.b.passes, pairs.b.scored),
        None if clusters is None else np.array(clusters),
    )


def detectable(points: float, repeats: int, seen: Discordance) -> Detectable:
    """The number of records, with these repeats, that shows this difference."""
    effect = seen.design_effect(repeats)
    # A difference of 40 points needs disagreement on at least 40 % of the records.
    share = max(seen.assumed, points / 100)
    return Detectable(
        points=points,
        records=records_to_detect(
            points,
            share,
            effect,
            repeats=repeats,
            between_repeats=seen.between_repeats,
        ),
        repeats=repeats,
        discordant=share,
        observed_discordant=seen.observed,
        pairs=seen.pairs,
        between_repeats=seen.between_repeats,
        design_effect=effect,
    )
