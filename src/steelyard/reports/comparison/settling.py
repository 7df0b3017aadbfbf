"""What would settle a comparison that shows no difference: how many records it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from steelyard.model.statistics.comparison import Comparison
from steelyard.reports.comparison.comparison_text import rounded
from steelyard.reports.detection import asked_text, share_text
from steelyard.reports.numbers import percent
from steelyard.stats.power import records_for_width, records_to_detect

POINTS = (20.0, 10.0, 5.0)


class NeededRecords(NamedTuple):
    """About so many records show a difference of so many points."""

    points: float
    records: int


class Settling(NamedTuple):
    """The records that several differences need."""

    rows: Sequence[NeededRecords]
    unit: str
    """What is counted."""
    assumed: str
    """What the numbers assume."""


def settling_of(found: Comparison, points: Sequence[float] = POINTS) -> Settling | None:
    """The records that differences of some sizes need.

    None where there is a verdict already, or where only missing scores prevent one: more records
    do not help then.
    """
    if found.verdict != "no difference detectable" or found.is_doubted:
        return None
    return _corrected(found, points) if found.corrected else _raw(found, points)


def _corrected(found: Comparison, points: Sequence[float]) -> Settling | None:
    one = found.corrected
    if one is None or one.low is None or one.high is None or not one.n:
        return None
    half = (one.high - one.low) / 2
    share = (one.labels_a + one.labels_b) / (2 * one.n)
    return Settling(
        rows=[
            NeededRecords(size, rounded(records_for_width(half, one.n, size))) for size in points
        ],
        unit=f"records, {100 * share:.0f} % read by people",
        assumed="80 % power; the interval is expected to shrink with the root of the records",
    )


def _raw(found: Comparison, points: Sequence[float]) -> Settling | None:
    known = found.detectable
    if known is None:
        return None
    rows = [
        NeededRecords(
            size,
            rounded(
                records_to_detect(
                    size,
                    max(known.discordant, size / 100),
                    known.design_effect,
                    repeats=known.repeats,
                    between_repeats=known.between_repeats,
                )
            ),
        )
        for size in points
    ]
    assumed = f"80 % power; {share_text(known)}"
    if any(size / 100 > known.discordant for size in points):
        assumed += "; for a larger difference, as many as it has points"
    if known.design_effect > 1:
        assumed += f"; dependent records count {percent(1 / known.design_effect)} each"
    return Settling(rows, f"records{asked_text(known)}", assumed)
