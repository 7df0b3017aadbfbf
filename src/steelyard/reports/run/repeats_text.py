"""pass@k, pass^k and variance of repeated cases, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from steelyard.reports.numbers import count, percent, rate_text
from steelyard.results.metrics import Bounds, Metrics, PassEstimate, Repeats, TriesMetrics

if TYPE_CHECKING:
    from steelyard.stats.repeats import Way

_TWICE_THE_RECORDS = 29
"""Percentage by which twice the records narrow an interval: 1 - 1 / sqrt(2)."""
_AS_GOOD, _LITTLE = 0.2, 0.08


def repeats_lines(metrics: Metrics) -> Iterator[str]:
    """pass@k and pass^k for the largest k and smaller k, and the sources of variance."""
    repeats = metrics.repeats
    if not repeats:
        return
    # For k = 1, pass@k and pass^k are the same.
    smaller = repeats.by_k[:-1]
    yield from _way(repeats, smaller, "pass_at_k", "one")
    yield from _way(repeats, [one for one in smaller if one.k != 1], "pass_hat_k", "every one")
    if text := noise_text(repeats):
        yield f"  noise      {text}"


def _way(
    largest: TriesMetrics, smaller: Sequence[TriesMetrics], way: Way, which: str
) -> Iterator[str]:
    """One of the two estimates, for the largest k and the smaller ones."""
    found, name = _estimate(largest, way), _name(largest, way)
    passing = f"{which} of {largest.k} tries passes, n = {count(found.n)}"
    yield f"  {name:<10} {estimate_text(found)}  {passing}"
    if text := bounds_text(found):
        yield f"  bounds     {name} is {text}"
    if smaller:
        yield f"  smaller k  {'; '.join(_smaller(one, way) for one in smaller)}"


def _estimate(tries: TriesMetrics, way: Way) -> PassEstimate:
    return tries.pass_at_k if way == "pass_at_k" else tries.pass_hat_k


def _name(tries: TriesMetrics, way: Way) -> str:
    return f"pass{'@' if way == 'pass_at_k' else '^'}{tries.k}"


def _smaller(tries: TriesMetrics, way: Way) -> str:
    found = _estimate(tries, way)
    text = f"{_name(tries, way)} {estimate_text(found)} n = {count(found.n)}"
    return f"{text}, bounds {_spread(found.bounds)}" if found.bounds else text


def estimate_text(found: PassEstimate) -> str:
    """An estimate with its interval, or a note that only its bounds are known."""
    if found.value is None and found.bounds:
        return "– (only its bounds are known)"
    return rate_text(found)


def partial_text(metrics: Metrics) -> str:
    """Why a number of passes is fractional; empty if it is an integer."""
    if isinstance(metrics.pass_count, int):
        return ""
    return "a record counts by the share of its tries that passed"


def bounds_text(found: PassEstimate) -> str:
    """The bounds of an estimate if tries are missing; empty if none is."""
    if not found.bounds:
        return ""
    return f"{_spread(found.bounds)} if the tries without a score had all failed or all passed"


def _spread(bounds: Bounds) -> str:
    return f"{percent(bounds.low)} to {percent(bounds.high)}"


def noise_text(repeats: Repeats) -> str | None:
    """Whether more records or more repeats would make the result more certain."""
    variance = repeats.variance
    if variance is None:
        return None
    records, tries = variance.between_records, variance.between_repeats
    twice = variance.twice_the_repeats
    if twice >= _AS_GOOD:
        advice = "more repeats help about as much as more records"
    elif twice >= _LITTLE:
        advice = "add records; more repeats help a little"
    else:
        advice = "add records; more repeats change little"
    return (
        f"{100 * records:.0f} % of the variance is between records, {100 * tries:.0f} % between "
        f"repeats: {advice} (twice the records would narrow the interval by "
        f"{_TWICE_THE_RECORDS} %, twice the repeats by {100 * twice:.0f} %)"
    )
