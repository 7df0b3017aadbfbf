"""What several judges know together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import fsum, sqrt


def effective_votes(judges: int, correlation: float) -> float:
    """How many independent votes a jury is worth: n / (1 + (n - 1) ρ).

    ρ is the mean correlation of the judges' errors. Judges who err together add little: nine of
    them with ρ = 0.44 carry 1.99 votes. A negative ρ counts as none, because a jury is not
    worth more than its members.
    """
    return judges / (1 + (judges - 1) * max(0.0, correlation))


def error_correlation(errors: Sequence[Sequence[float]]) -> float | None:
    """The mean pairwise (Pearson) correlation of errors, a row for each judge.

    An error is the judge's score minus the truth, item by item. Pairs in which one judge's
    errors are all the same have no correlation; None where no pair has one.
    """
    found = [_pearson(one, other) for one, other in combinations(errors, 2)]
    known = [value for value in found if value is not None]
    return fsum(known) / len(known) if known else None


def _pearson(one: Sequence[float], other: Sequence[float]) -> float | None:
    first, second = _centred(one), _centred(other)
    spread = sqrt(fsum(x * x for x in first) * fsum(y * y for y in second))
    if spread <= 1e-15:
        return None
    return fsum(x * y for x, y in zip(first, second, strict=True)) / spread


def _centred(values: Sequence[float]) -> list[float]:
    mean = fsum(values) / len(values) if values else 0.0
    return [value - mean for value in values]
