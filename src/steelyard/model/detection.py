"""How many records a difference needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """What it takes to see a difference of so many percentage points."""

    points: float
    records: int
    """As many are needed, each in both runs that are compared."""
    clusters: int | None
    """In as many conversations or other clusters, where records come in such."""
    repeats: int
    """Asked so many times each."""
    valid_records: int
    """As many there are."""
    detectable_points: float | None
    """The smallest difference that those are enough for; None where no difference is."""
    power: float
    discordant: float
    """The share of records that only one of two runs passes."""
    design_effect: float
    pass_rate: float | None
    """That of the newest run."""
    runs: tuple[str, ...]
    """The runs that discordant share and design effect are from; none where they are assumed."""
