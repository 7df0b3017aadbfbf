"""Formatting of numbers, with interval and denominator."""

from __future__ import annotations

import math
from typing import Protocol


class Estimated(Protocol):
    """An estimate with its interval."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def n(self) -> int | None: ...
    @property
    def clusters(self) -> int | None: ...


def percent(value: float | None) -> str:
    """A share as a percentage."""
    return "–" if value is None else f"{100 * value:.1f} %"


def rate_text(found: Estimated) -> str:
    """A rate with its interval, such as `66.7 % [46.7, 82.0]`."""
    if found.value is None:
        return "– (nothing evaluated)"
    if found.low is None or found.high is None:
        return f"{percent(found.value)} ({no_interval(found)})"
    return f"{percent(found.value)} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def range_text(found: Estimated) -> str:
    """The interval of a rate in per cent, such as `46.7 – 82.0`, or why there is none."""
    if found.low is None or found.high is None:
        return "no interval"
    return f"{100 * found.low:.1f} – {100 * found.high:.1f}"


def mean_text(found: Estimated) -> str:
    """A mean with its interval, such as `0.667 [0.458, 0.833]`."""
    if found.value is None:
        return "– (nothing evaluated)"
    value = unsigned_zero(found.value, 3)
    if found.low is None or found.high is None:
        return f"{value:.3f} ({no_interval(found)})"
    low, high = (unsigned_zero(end, 3) for end in (found.low, found.high))
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def no_interval(found: Estimated) -> str:
    """Why an estimate has no interval."""
    return f"no interval: too few values differ, n = {count(found.clusters or found.n)}"


def signed_points(share: float) -> str:
    """A difference of shares in percentage points with its sign, such as `+2.4`; never `-0.0`."""
    return signed(100 * share, 1)


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign; one that rounds to zero is `0.000`, never `-0.000`."""
    shown = unsigned_zero(value, digits)
    return f"{shown:+.{digits}f}" if shown else f"{shown:.{digits}f}"


def unsigned_zero(value: float, digits: int) -> float:
    """A number rounded to so many digits, never negative zero."""
    return round(value, digits) + 0.0


def milliseconds(value: float | None) -> str:
    """A latency."""
    return "–" if value is None else f"{value:,.0f} ms"


def dollars(value: float | None) -> str:
    """A cost; small amounts keep significant digits."""
    if value is None:
        return "–"
    if value >= 1 or value == 0:
        return f"${value:,.2f}"
    digits = max(4, 1 - math.floor(math.log10(value)))
    return f"${value:.{digits}f}"


def count(value: float | None) -> str:
    """A count with separators; a fractional count with two decimals."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def share_text(found: Estimated) -> str:
    """How many of how many, such as `23 of 24`; of weighted rates, which are no counts, n."""
    whole = whole_of(found)
    return f"n = {count(found.n)}" if whole is None else f"{count(whole)} of {count(found.n)}"


def whole_of(found: Estimated) -> int | None:
    """How many items a rate is, where it is not weighted."""
    if found.value is None or not found.n:
        return None
    number = found.value * found.n
    return round(number) if abs(number - round(number)) < 1e-6 else None


def counted(number: int, noun: str) -> str:
    """A number of things, such as `1 record` and `1,200 records`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def p_text(p_value: float | None) -> str:
    """A p-value; small ones as `p < 0.001`."""
    if p_value is None:
        return "p –"
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
