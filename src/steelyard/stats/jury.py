"""What several judges know together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import exp, fsum, log, sqrt
from typing import NamedTuple


class Vote(NamedTuple):
    """What one judge said, and how often it is right: of good answers, and of bad ones."""

    passed: bool
    tpr: float
    tnr: float


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


def log_odds(prior: float, votes: Sequence[Vote]) -> float:
    """The probability that an answer is good, given independent votes and a prior.

    logit P = logit(π) + Σ ln(TPR / (1 - TNR)) for a pass, ln((1 - TPR) / TNR) for a fail: naive
    Bayes over the judges' validated rates. Rates of exactly 0 or 1 are drawn in by a billionth,
    so that no single judge decides for ever.
    """
    total = _logit(prior) + fsum(_weight(vote) for vote in votes)
    return 1 / (1 + exp(-total)) if total >= 0 else exp(total) / (1 + exp(total))


def _weight(vote: Vote) -> float:
    tpr, tnr = _inside(vote.tpr), _inside(vote.tnr)
    return log(tpr / (1 - tnr)) if vote.passed else log((1 - tpr) / tnr)


def _logit(share: float) -> float:
    inside = _inside(share)
    return log(inside / (1 - inside))


def _inside(share: float) -> float:
    return min(max(share, 1e-9), 1 - 1e-9)


def _pearson(one: Sequence[float], other: Sequence[float]) -> float | None:
    first, second = _centred(one), _centred(other)
    spread = sqrt(fsum(x * x for x in first) * fsum(y * y for y in second))
    if spread <= 1e-15:
        return None
    return fsum(x * y for x, y in zip(first, second, strict=True)) / spread


def _centred(values: Sequence[float]) -> list[float]:
    mean = fsum(values) / len(values) if values else 0.0
    return [value - mean for value in values]
