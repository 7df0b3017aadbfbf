"""The difference of two estimates that were made apart."""

from __future__ import annotations

from math import hypot

from steelyard.stats.intervals import Interval

MOVER = "mover"


def difference(first: Interval, second: Interval) -> Interval:
    """The second minus the first, from their intervals alone.

    The variance is recovered from the two intervals (MOVER: Zou and Donner 2008; for Wilson's it
    is Newcombe's interval of 1998), so that it may be lopsided as they are. The two count as
    independent. Where both rest on the same labels their errors are alike, and the interval is
    wider than it need be, not narrower.
    """
    a, a_low, a_high = first.value, first.low, first.high
    b, b_low, b_high = second.value, second.low, second.high
    n = min(first.n, second.n)
    if a is None or a_low is None or a_high is None:
        return Interval(None, None, None, MOVER, n)
    if b is None or b_low is None or b_high is None:
        return Interval(None, None, None, MOVER, n)
    value = b - a
    low, high = value - hypot(b - b_low, a_high - a), value + hypot(b_high - b, a - a_low)
    return Interval(value, max(-1.0, low), min(1.0, high), MOVER, n)
