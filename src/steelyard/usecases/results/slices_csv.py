"""The slices of a run as CSV, small ones included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from steelyard.formats.csv_line import csv_line
from steelyard.model.json_value import JsonValue
from steelyard.model.statistics.interval import Interval
from steelyard.reports.run.heat_rows import PeopleRates
from steelyard.results.metrics import Slice

_COUNTS = ("slice", "value", "records", "no_score", "passed")


def export_slices(
    slices: Iterable[Slice], checks: Sequence[str], people: PeopleRates
) -> Iterator[str]:
    """One line per slice: rates as shares from 0 to 1, each with its interval and n.

    People have columns only where they have read something.
    """
    rated = ["pass_rate", *(f"check:{name}" for name in checks), *(["people"] if people else [])]
    yield csv_line([*_COUNTS, *(name for one in rated for name in _names(one)), "adjusted_p"])
    for one in slices:
        if one.value is None:
            continue
        rates = [one.pass_rate]
        rates += [one.checks[name].pass_rate if name in one.checks else None for name in checks]
        if people:
            rates.append(people.get((one.slice, one.value)))
        without = one.total_records - one.evaluated_records
        counts = [one.slice, one.value, one.total_records, without, one.pass_count]
        values = (value for rate in rates for value in _values(rate))
        yield csv_line([*counts, *values, one.adjusted_p])


def _names(rate: str) -> tuple[str, ...]:
    return (rate, f"{rate}_low", f"{rate}_high", f"{rate}_n")


def _values(rate: Interval | None) -> tuple[JsonValue, ...]:
    return (None, None, None, 0) if rate is None else (rate.value, rate.low, rate.high, rate.n)
