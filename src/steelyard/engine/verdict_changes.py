"""How far scores moved between two gradings of the same traces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.statistics.interval import Interval
from steelyard.results.projections import GradedPrediction
from steelyard.stats.paired import paired_difference

ALPHA = 0.05
"""Below this chance of the like by accident, passes have moved."""
_SAME = 1e-9


Change: TypeAlias = Literal["lost", "vanished", "gained", "appeared", "other"]
"""What became of a verdict: a pass lost, no verdict any more, a pass gained, a first verdict, or
another score or status alone. Worst first."""


class Graded(NamedTuple):
    """What one grading said of a trace; without a score, the status says why."""

    status: str
    score: float | None
    passed: bool | None


class ChangedVerdict(NamedTuple):
    """A trace that the two gradings do not say the same of."""

    index: int  # pyright: ignore[reportIncompatibleMethodOverride]
    record_id: str | None
    repeat: int
    old: Graded
    new: Graded

    @property
    def change(self) -> Change:
        """What became of the verdict, which only a trace with a score has."""
        had, has = self.old.score is not None, self.new.score is not None
        if had != has:
            return "appeared" if has else "vanished"
        if not had or bool(self.old.passed) == bool(self.new.passed):
            return "other"
        return "gained" if self.new.passed else "lost"


class Shift(FrozenStruct, frozen=True, kw_only=True):
    """Two gradings of one run's traces, pair by pair."""

    pairs: int
    """How many traces have a score in both."""
    unpaired: int
    """How many have none in one of them or in both."""
    moved: tuple[ChangedVerdict, ...]
    gained: int
    """How many cases pass more often than before."""
    lost: int
    p_value: float
    """The chance of as many gained or lost passes where nothing moved."""
    test: str
    """The test that the p-value is from."""
    score: Interval
    """The mean difference of the scores, new less old."""
    is_judged: bool
    """Whether a judge was asked, who may say something else the next time."""

    def count(self, *changes: Change) -> int:
        """How many traces have one of these changes."""
        return sum(one.change in changes for one in self.moved)

    @property
    def has_moved(self) -> bool:
        """Whether this is another measure than before.

        Checks without a judge say the same every time, so that one moved trace is enough. What
        judges say varies; there it counts what goes beyond chance.
        """
        if not self.is_judged:
            return bool(self.moved)
        low, high = self.score.low, self.score.high
        is_beyond = low is not None and high is not None and (low > 0 or high < 0)
        return self.p_value < ALPHA or is_beyond


def shift_of(old: Iterable[GradedPrediction], new: Iterable[GradedPrediction]) -> Shift:
    """What became of the predictions of one run in another one over the same traces."""
    before = {row.place: row for row in old}
    moved: list[ChangedVerdict] = []
    pairs = _Pairs()
    unpaired, is_judged = 0, any(_asked(row) for row in before.values())
    for row in new:
        first = before.get(row.place)
        if first is None:
            unpaired += 1
            continue
        is_judged = is_judged or _asked(row)
        was, now = _graded(first), _graded(row)
        if _differ(was, now):
            moved.append(ChangedVerdict(row.index, row.record_id, row.repeat, was, now))
        if was.score is None or now.score is None:
            unpaired += 1
            continue
        pairs.add(row, now.score - was.score, bool(now.passed) - bool(was.passed))
    tested = paired_difference(pairs.passes, pairs.clusters)
    return Shift(
        pairs=len(pairs.scores),
        unpaired=unpaired,
        moved=tuple(moved),
        gained=sum(change > 0 for change in pairs.cases.values()),
        lost=sum(change < 0 for change in pairs.cases.values()),
        p_value=1.0 if tested.p_value is None else tested.p_value,
        test=tested.test,
        score=paired_difference(pairs.scores, pairs.clusters).interval,
        is_judged=is_judged,
    )


class _Pairs:
    """The traces that have a score in both gradings, new less old."""

    def __init__(self) -> None:
        self.scores: list[float] = []
        self.passes: list[int] = []
        self.cases: defaultdict[int, int] = defaultdict(int)
        """The change of passes by case, whose repeats count together."""
        self._places: dict[str | int, int] = {}
        self._clusters: list[int] = []

    def add(self, row: GradedPrediction, score: float, passed: int) -> None:
        self.scores.append(score)
        self.passes.append(passed)
        self.cases[row.index] += passed
        name = row.cluster or row.index
        self._clusters.append(self._places.setdefault(name, len(self._places)))

    @property
    def clusters(self) -> list[int] | None:
        """Which traces are dependent: repeats of a case, cases of a conversation."""
        return self._clusters if len(self._places) < len(self._clusters) else None


def _graded(row: GradedPrediction) -> Graded:
    return Graded(row.status, row.score, row.passed)


def _differ(old: Graded, new: Graded) -> bool:
    if old.score is None or new.score is None:
        return (old.score, old.status) != (new.score, new.status)
    return abs(old.score - new.score) > _SAME or old.passed != new.passed


def _asked(row: GradedPrediction) -> bool:
    return any(entry.judge for entry in row.evaluator_scores)
