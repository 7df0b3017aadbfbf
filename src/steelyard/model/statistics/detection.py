"""How many records a difference needs."""

from __future__ import annotations

from steelyard.model.frozen_struct import FrozenStruct


class Detectable(FrozenStruct, frozen=True, kw_only=True):
    """How many records a difference of so many points needs, at 80 % power."""

    points: float
    records: int
    """As many are needed, each in both runs that are compared."""
    repeats: int = 1
    """Asked so many times each."""
    discordant: float
    """How often single tries of two runs disagree on a record, as the number assumes."""
    observed_discordant: float | None = None
    """The same as it was seen; None where no two runs show it."""
    pairs: int = 0
    """How many records in both runs it was seen on."""
    between_repeats: float | None = None
    """The part of `discordant` between repeats of one record; None where no runs show it."""
    design_effect: float = 1.0


class Detection(Detectable, frozen=True, kw_only=True):
    """The same for a run that is planned."""

    clusters: int | None
    """In as many conversations or other clusters, where records come in such."""
    valid_records: int
    """As many there are."""
    detectable_points: float | None
    """The smallest difference that those are enough for; None where no difference is."""
    power: float
    pass_rate: float | None
    """That of the newest run."""
    runs: tuple[str, ...]
    """The runs that discordant share and design effect are from; none where they are assumed."""
