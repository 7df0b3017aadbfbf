"""What several tries of the same cases say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from steelyard.model.json_value import JsonObject
from steelyard.reports.numbers import count, percent, rate_text

_TWICE_THE_RECORDS = 29
"""By how many percent twice the records narrow an interval: 1 - 1 / sqrt(2)."""
_AS_GOOD, _LITTLE = 0.2, 0.08


def repeats_lines(metrics: JsonObject) -> Iterator[str]:
    """At least one pass and all passes in the largest k, the smaller k, and where the noise is."""
    repeats = cast("JsonObject | None", metrics.get("repeats"))
    if not repeats:
        return
    k = repeats["k"]
    for key, sign, which in (("pass_at_k", "@", "one"), ("pass_hat_k", "^", "every one")):
        found, name = cast(JsonObject, repeats[key]), f"pass{sign}{k}"
        said = f"{which} of {k} tries passes, n = {count(found['n'])}"
        yield f"  {name:<10} {estimate_text(found)}  {said}"
        if text := bounds_text(found):
            yield f"  bounds     {name} is {text}"
        # Runs of earlier versions know the largest k alone.
        rows = cast(list[JsonObject], repeats.get("by_k") or [])[:-1]
        # Of a single try, passing once and passing always are the same.
        smaller = [row for row in rows if sign == "@" or row["k"] != 1]
        if smaller:
            yield f"  smaller k  {'; '.join(_smaller(row, key, sign) for row in smaller)}"
    if text := noise_text(repeats):
        yield f"  noise      {text}"


def _smaller(row: JsonObject, key: str, sign: str) -> str:
    found = cast(JsonObject, row[key])
    text = f"pass{sign}{row['k']} {estimate_text(found)} n = {count(found['n'])}"
    return f"{text}, bounds {_spread(found)}" if found.get("bounds") else text


def estimate_text(found: JsonObject) -> str:
    """An estimate with its interval, or that missing tries leave nothing but the bounds."""
    if found["value"] is None and found.get("bounds"):
        return "– (only its bounds are known)"
    return rate_text(found)


def partial_text(metrics: JsonObject) -> str:
    """Why a number of passes is not whole; empty where it is."""
    if isinstance(metrics["pass_count"], int):
        return ""
    return "a record counts by the share of its tries that passed"


def bounds_text(found: JsonObject) -> str:
    """What missing tries could make of an estimate; empty where no case lacks one."""
    if not found.get("bounds"):
        return ""
    return f"{_spread(found)} if the tries without a score had all failed or all passed"


def _spread(found: JsonObject) -> str:
    bounds = cast(JsonObject, found["bounds"])
    return f"{percent(bounds['low'])} to {percent(bounds['high'])}"


def noise_text(repeats: JsonObject) -> str | None:
    """Whether more records or more repeats would make the result more certain."""
    variance = cast("JsonObject | None", repeats.get("variance"))
    if variance is None:
        return None
    records, tries, twice = (
        cast(float, variance[key])
        for key in ("between_records", "between_repeats", "twice_the_repeats")
    )
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
