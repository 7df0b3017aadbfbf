"""The same records in two runs: what they differ by, and how many show a difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from steelyard.model.statistics.detection import Detectable
from steelyard.stats.clustered import coarser
from steelyard.stats.discordance import Discordance, PairedTries, discordance
from steelyard.stats.power import records_to_detect
from steelyard.usecases.results.paired_rows import PairedRecord


class Pair(NamedTuple):
    """One record in both runs."""

    a: PairedRecord
    b: PairedRecord

    @property
    def passed(self) -> float:
        """How much more often B passes."""
        return self.b.passed - self.a.passed

    @property
    def scored(self) -> float:
        """How much more B scores."""
        return self.b.score - self.a.score

    @property
    def is_uneven(self) -> bool:
        """Whether one run lacks scores that the other has."""
        is_known_once = bool(self.a.scored) != bool(self.b.scored)
        return is_known_once or self.a.missing != self.b.missing

    def filled(self, *, favours_b: bool) -> float:
        """The same as `passed` if scores that only one run has were missing so, or for A."""
        more = self.b.missing - self.a.missing
        b = _filled(self.b, max(0, more), is_pass=favours_b)
        return b - _filled(self.a, max(0, -more), is_pass=not favours_b)


def _filled(record: PairedRecord, missing: int, *, is_pass: bool) -> float:
    n = record.scored + missing
    return (record.passes + missing * is_pass) / n if n else float(is_pass)


def clusters_of(pairs: Sequence[Pair]) -> list[int] | None:
    """A number for each conversation; None where every record is independent.

    Where the runs group records differently, the fewer groups count: order must not matter.
    """
    sides = ([pair.a.cluster for pair in pairs], [pair.b.cluster for pair in pairs])
    known = [labels for names in sides if (labels := _numbers(names)) is not None]
    return coarser(known[0], known[-1]) if known else None


def _numbers(names: Sequence[str | None]) -> list[int] | None:
    if all(name is None for name in names):
        return None
    numbers: dict[str, int] = {}
    return [
        -1 - place if name is None else numbers.setdefault(name, len(numbers))
        for place, name in enumerate(names)
    ]


def discordance_of(pairs: Sequence[Pair]) -> Discordance:
    """How often the two runs disagree on records that both scored."""
    counts = [(a.passes, a.scored, b.passes, b.scored) for a, b in pairs]
    clusters = clusters_of(pairs)
    return discordance(
        PairedTries(*np.array(counts, dtype=np.float64).T),
        None if clusters is None else np.array(clusters),
    )


def detectable(points: float, repeats: int, seen: Discordance) -> Detectable:
    """How many records, asked so many times each, show a difference of so many points."""
    effect = seen.design_effect(repeats)
    # A difference of 40 points takes at least 40 % of the records on which the runs disagree.
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
