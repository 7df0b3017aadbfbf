"""Resamples of items: how often each comes up, so that any mean over items is one product."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.stats.bootstrap import SEED
from steelyard.stats.intervals import Interval
from steelyard.stats.summaries import TAILS, quantiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Codes: TypeAlias = "NDArray[np.int64]"
Statistic: TypeAlias = Callable[[Floats], Floats]
"""From how often each kind of item comes up, a row a resample, to a value for each resample."""
RESAMPLES = 2_000
_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a statistic, a column each: those that are alike as one, where they may be.

    Items of one group (turns of a trace, repeats of a record) are drawn together, because they
    are not independent. Where every item is its own group, or all are one, single items are
    drawn, and those with the same answers need not be told apart.
    """

    codes: Codes
    """What the raters said, a row a rater."""
    times: Codes
    """How many items each column stands for."""
    groups: Codes | None = None

    @classmethod
    def of(cls, codes: Codes, groups: Sequence[int] | None = None) -> Items:
        """The items that raters rated."""
        size: int = codes.shape[1]
        labels = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        if labels is not None and size and 0 < labels.max() < size - 1:
            return cls(codes, np.full(size, 1), labels)
        kinds, times = np.unique(codes, axis=1, return_counts=True)
        return cls(kinds, times)

    @property
    def size(self) -> int:
        """How many items there are."""
        return int(self.times.sum())

    def draws(self, width: int) -> Iterator[Floats]:
        """How often each column comes up, some resamples at a time to bound the memory."""
        chance = np.random.default_rng(SEED)
        drawn = self.codes.shape[1] if self.groups is None else int(self.groups.max()) + 1
        batch = max(1, _AT_ONCE // max(self.codes.shape[1], width))
        for start in range(0, RESAMPLES, batch):
            rows = min(batch, RESAMPLES - start)
            if self.groups is None:
                times = chance.multinomial(self.size, self.times / self.size, size=rows)
            else:
                places = chance.integers(0, drawn, size=(rows, drawn))
                places += np.arange(rows)[:, None] * drawn
                found = np.bincount(places.ravel(), minlength=rows * drawn)
                times = found.reshape(rows, drawn)[:, self.groups]
            yield times.astype(np.float64)


def over_items(
    statistic: Statistic, items: Items, method: str, *, n: int | None = None, width: int = 1
) -> Interval:
    """A statistic with its percentile interval over 2,000 seeded resamples of items.

    A resample in which the statistic is undefined is left out. `n` is what the value rests on,
    where not every item counts; `width` how many numbers the statistic holds a resample.
    """
    counted = items.size if n is None else n
    if not items.size:
        return Interval(None, None, None, method, counted)
    value = float(statistic(items.times[None].astype(np.float64))[0])
    if np.isnan(value):
        return Interval(None, None, None, method, counted)
    found = np.concatenate([statistic(times) for times in items.draws(width)])
    sound = found[np.isfinite(found)]
    named = f"{method}, {'bootstrap' if items.groups is None else 'cluster bootstrap'}"
    if not len(sound):
        return Interval(value, None, None, named, counted)
    low, high = quantiles(sound, TAILS)
    return Interval(value, min(low, value), max(high, value), named, counted)
