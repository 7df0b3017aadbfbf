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
    ways = (("pass_at_k", f"pass@{k}", "one"), ("pass_hat_k", f"pass^{k}", "every one"))
    for key, name, which in ways:
        found = cast(JsonObject, repeats[key])
        said = f"{which} of {k} tries passes, n = {count(found['n'])}"
        yield f"  {name:<10} {rate_text(found)}  {said}"
        if text := bounds_text(found):
            yield f"  bounds     {name} is {text}"
    # Runs of earlier versions know the largest k alone.
    rows = cast(list[JsonObject], repeats.get("by_k") or [])
    if len(rows) > 1:
        yield f"  smaller k  {', '.join(_smaller(rows[:-1]))}"
    if text := noise_text(repeats):
        yield f"  noise      {text}"


def _smaller(rows: list[JsonObject]) -> Iterator[str]:
    """Of a single try, passing once and passing always are the same."""
    for sign, key in (("@", "pass_at_k"), ("^", "pass_hat_k")):
        for row in rows:
            if sign == "@" or row["k"] != 1:
                yield f"pass{sign}{row['k']} {percent(cast(JsonObject, row[key])['value'])}"


def bounds_text(found: JsonObject) -> str:
    """What missing tries could make of an estimate; empty where no case lacks one."""
    bounds = cast("JsonObject | None", found.get("bounds"))
    if bounds is None:
        return ""
    spread = f"{percent(bounds['low'])} to {percent(bounds['high'])}"
    return f"{spread} if the tries without a score had all failed or all passed"


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
