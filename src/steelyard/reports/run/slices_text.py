"""Slices that pass less often than the rest, and slices in which scores are missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from steelyard.reports.numbers import count, p_text, rate_text
from steelyard.results.metrics import Metrics, Slice

_SHOWN = 3
MIN_SLICE = 5
"""Slices with fewer records are not judged: too few to read a rate from."""
WEAK = 0.05
"""A slice whose adjusted p is at most this is significantly below the rest."""
_CHANCE = "could be chance"


class LowSlice(NamedTuple):
    """A slice with a low pass rate."""

    word: Literal["weak slice", "lowest"]
    """Weak if it is significantly below the rest, else one of the lowest."""
    name: str
    text: str


def low_slices(
    metrics: Metrics, slices: Iterable[Slice], most: int | None = _SHOWN
) -> list[LowSlice]:
    """The slices that are significantly below the rest, then the lowest of the others.

    Only slices of five or more records whose rate is below that of the run are listed.
    """
    whole = metrics.pass_rate.value
    found: list[tuple[bool, float, LowSlice]] = []
    for one in slices:
        rate = one.pass_rate
        if one.value is None or rate.value is None or rate.n < MIN_SLICE:
            continue
        if whole is not None and rate.value < whole:
            is_weak = one.adjusted_p is not None and one.adjusted_p <= WEAK
            why = f"below the rest (adjusted {p_text(one.adjusted_p)})" if is_weak else _CHANCE
            text = f"{rate_text(rate)}  n = {count(rate.n)}, {why}"
            low = LowSlice("weak slice" if is_weak else "lowest", one.name, text)
            found.append((not is_weak, rate.value, low))
    found.sort(key=lambda entry: (*entry[:2], entry[2].name))
    return [one for *_, one in found[:most]]


def uneven_slices(metrics: Metrics) -> Iterator[str]:
    """The slices in which scores are missing significantly more or less often."""
    missing = metrics.missing
    for one in missing.uneven_slices:
        share = f"{count(one.missing)} of {count(one.valid)} have no score"
        rest, others = missing.missing - one.missing, missing.valid - one.valid
        yield f"{one.name}: {share}, of the others {count(rest)} of {count(others)}"
