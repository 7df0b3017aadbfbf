"""One set of cases graded twice: did passes or scores move?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from steelyard.stats.bootstrap import bootstrap_mean
from steelyard.stats.distributions import binomial_tail
from steelyard.stats.intervals import Interval


def mcnemar(gained: int, lost: int) -> float:
    """The two-sided p-value of McNemar's exact test.

    Of the cases whose pass changed, as many should have been gained as lost if nothing moved:
    a sign test on those alone. Exact, because few pairs differ and the chi-squared form is wrong
    there. Without a pair that differs there is nothing against "nothing moved".
    """
    return min(1.0, 2 * binomial_tail(max(gained, lost), gained + lost))


def paired_shift(differences: Sequence[float], cases: Sequence[int] | None = None) -> Interval:
    """The mean difference of paired scores with its bootstrap interval.

    The pairs are resampled, not the two sides apart: what makes one case harder than another
    cancels. With cases, all pairs of a case (its repeats) are drawn together.
    """
    found = bootstrap_mean(differences, cases)
    return replace(found, method=f"paired {found.method}")
