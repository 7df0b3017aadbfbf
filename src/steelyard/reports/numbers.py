"""Numbers as people read them; none without its interval and its denominator."""

from __future__ import annotations

import math
from typing import cast

from steelyard.model.json_value import JsonObject, JsonValue


def percent(value: JsonValue) -> str:
    """A share as a percentage."""
    return "–" if value is None else f"{100 * cast(float, value):.1f} %"


def rate_text(interval: JsonObject) -> str:
    """A rate with its interval, such as `66.7 % [46.7, 82.0]`."""
    if interval["value"] is None:
        return "– (nothing evaluated)"
    if interval["low"] is None:
        return f"{percent(interval['value'])} ({no_interval(interval)})"
    low, high = (100 * cast(float, interval[key]) for key in ("low", "high"))
    return f"{percent(interval['value'])} [{low:.1f}, {high:.1f}]"


def mean_text(interval: JsonObject) -> str:
    """A mean with its interval, such as `0.667 [0.458, 0.833]`."""
    if interval["value"] is None:
        return "– (nothing evaluated)"
    value = unsigned_zero(cast(float, interval["value"]), 3)
    if interval["low"] is None:
        return f"{value:.3f} ({no_interval(interval)})"
    low, high = (unsigned_zero(cast(float, interval[key]), 3) for key in ("low", "high"))
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def no_interval(interval: JsonObject) -> str:
    """Why an estimate comes without an interval."""
    items = interval.get("clusters") or interval["n"]
    return f"no interval: too few values differ, n = {count(items)}"


def signed_points(share: float) -> str:
    """A difference of shares in percentage points with its sign, such as `+2.4`; never `-0.0`."""
    return signed(100 * share, 1)


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign; one that rounds to zero is `0.000`, never `-0.000`."""
    shown = unsigned_zero(value, digits)
    return f"{shown:+.{digits}f}" if shown else f"{shown:.{digits}f}"


def unsigned_zero(value: float, digits: int) -> float:
    """A number as it is shown with so many digits, without the sign of a zero."""
    return round(value, digits) + 0.0


def milliseconds(value: JsonValue) -> str:
    """A latency."""
    return "–" if value is None else f"{cast(float, value):,.0f} ms"


def dollars(value: JsonValue) -> str:
    """A cost; small ones keep their digits."""
    if value is None:
        return "–"
    amount = cast(float, value)
    if amount >= 1 or amount == 0:
        return f"${amount:,.2f}"
    digits = max(4, 1 - math.floor(math.log10(amount)))
    return f"${amount:.{digits}f}"


def count(value: JsonValue) -> str:
    """A count with separators; one that repeats have split shows two digits of the rest."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{cast(float, value):,.2f}"


def counted(number: int, noun: str) -> str:
    """A number of things, such as `1 record` and `1,200 records`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
