"""What criteria come to: three figures over those that were judged."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Literal, NamedTuple, TypeAlias

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.scores import finite_sum, in_proportion, meant

Aggregation: TypeAlias = Literal["points_over_maximum", "share_met"]

_LOWEST = -1e30
"""Means and variances of raw scores must stay finite, whatever the weights are."""


class Ruling(NamedTuple):
    """What was said about one criterion; None where no judge came to a decision."""

    weight: float
    is_met: bool | None


class Points(FrozenStruct, frozen=True, kw_only=True):
    """Figures of a criteria rubric.

    Every sum is taken over the criteria that were judged, in the denominators as well: one
    whose judgement failed neither gives points nor costs any.
    """

    met: int
    scored: int
    total: int
    points: float
    """The weights of the criteria that are met."""
    maximum: float
    """The positive weights of those that were judged."""
    points_over_maximum: float | None
    """None where no positive weight was judged; negative where detriments outweigh points."""
    min_max: float | None
    """The points between the worst and the best that were possible; None where these are equal."""
    share_met: float | None
    """Of those that were judged, whatever they weigh."""
    share_right: float | None
    """The same where a criterion of negative weight counts when it is not met."""
    raw_score: float | None
    """What the aggregation makes of it; None where nothing can be said."""

    @property
    def score(self) -> float | None:
        """The raw score clipped to [0, 1]."""
        return None if self.raw_score is None else min(1.0, max(0.0, self.raw_score))


def points_of(
    rulings: Sequence[Ruling], aggregation: Aggregation = "points_over_maximum"
) -> Points:
    """The figures of one answer.

    A rubric in which nothing gives points, but something costs some, is scored by its min-max
    figure, and one without any weight by its share. Where something would have given points
    but none of it was judged there is no score: the rest could only look like a good answer.
    """
    judged = [ruling for ruling in rulings if ruling.is_met is not None]
    met = [ruling.weight for ruling in judged if ruling.is_met]
    right = sum(bool(ruling.is_met) is (ruling.weight >= 0) for ruling in judged)
    over_maximum, min_max = _ratios(judged)
    share_right = right / len(judged) if judged else None
    raw_score = share_right
    if aggregation == "points_over_maximum":
        gives_points = any(ruling.weight > 0 for ruling in rulings)
        raw_score = (
            over_maximum if gives_points else _without_points(rulings, min_max, share_right)
        )
    return Points(
        met=len(met),
        scored=len(judged),
        total=len(rulings),
        points=finite_sum(met),
        maximum=finite_sum([ruling.weight for ruling in judged if ruling.weight > 0]),
        points_over_maximum=over_maximum,
        min_max=min_max,
        share_met=len(met) / len(judged) if judged else None,
        share_right=share_right,
        raw_score=raw_score,
    )


def _ratios(judged: Sequence[Ruling]) -> tuple[float | None, float | None]:
    """The points over their maximum, and between the worst and the best that were possible."""
    weights = in_proportion([ruling.weight for ruling in judged])
    points = fsum(weight for weight, ruling in zip(weights, judged, strict=True) if ruling.is_met)
    maximum = fsum(weight for weight in weights if weight > 0)
    minimum = fsum(weight for weight in weights if weight < 0)
    span = maximum - minimum
    return (
        max(_LOWEST, meant(points / maximum)) if maximum > 0 else None,
        meant((points - minimum) / span) if span > 0 else None,
    )


def _without_points(
    rulings: Sequence[Ruling], min_max: float | None, share: float | None
) -> float | None:
    costs_points = any(ruling.weight < 0 for ruling in rulings)
    return min_max if costs_points else share
