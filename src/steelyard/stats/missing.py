"""What could be if the records without a result had one."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.stats.multiplicity import adjusted
from steelyard.stats.tables import independence


class Bounds(NamedTuple):
    """A rate if every missing record had failed, and if every one had passed."""

    worst: float
    best: float


def rate_bounds(passed: float, evaluated: int, missing: int) -> Bounds | None:
    """The bounds of a pass rate (Manski 1989): they assume nothing about what is missing."""
    total = evaluated + missing
    return Bounds(passed / total, (passed + missing) / total) if total else None


def uneven(groups: dict[str, tuple[int, int]], level: float = 0.05) -> dict[str, float]:
    """The groups whose share of missing records differs from that of the rest.

    Groups come as (missing, total). Each is tested against the rest, and the p-values hold for
    all of them together. Where records are missing unevenly, what is left is another population.
    """
    missing = sum(found for found, _ in groups.values())
    total = sum(size for _, size in groups.values())
    p_values = [
        independence(found, size - found, missing - found, total - size - missing + found)
        for found, size in groups.values()
    ]
    kept = zip(groups, adjusted(p_values), strict=True)
    return {name: p_value for name, p_value in kept if p_value <= level}
