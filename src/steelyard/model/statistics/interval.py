"""The shape that every estimate has."""

from __future__ import annotations

from dataclasses import replace

from steelyard.model.frozen_struct import FrozenStruct


class Interval(FrozenStruct, frozen=True):
    """An estimate with its 95 % interval, the method's name and how many items it rests on."""

    value: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    clusters: int | None = None
    """How many groups of dependent items there are; None where every item is independent."""
    n_effective: float | None = None
    """How many independent passes and fails would be known as well; None where that is n."""

    @property
    def mirrored(self) -> Interval:
        """The same of the negated estimate."""
        return replace(
            self, value=_negated(self.value), low=_negated(self.high), high=_negated(self.low)
        )


def _negated(number: float | None) -> float | None:
    # Subtracted, because the negative of zero would be shown with its sign.
    return None if number is None else 0.0 - number
