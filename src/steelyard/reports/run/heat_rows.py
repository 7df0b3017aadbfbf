"""Slices × checks as rows of a heat table: slices below the rest first, small ones folded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from steelyard.model.statistics.interval import Interval
from steelyard.reports.numbers import count
from steelyard.reports.run.slices_text import MIN_SLICE, WEAK
from steelyard.results.metrics import CheckMetrics, Metrics, Slice

MOST_ROWS = 20
"""Slices on one page of the table."""
_MOST_CHECKS = 10
_MOST_FOLDED = 200
"""Small slices that are named."""
PeopleRates: TypeAlias = Mapping[tuple[str, str], Interval]
"""What people pass, by slice and value."""
NOBODY: PeopleRates = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatRow:
    """One slice."""

    slice: str
    value: str
    total: int
    unscored: int
    """Records without a score, which count in no rate."""
    pass_rate: Interval
    pass_count: int | float
    checks: tuple[Interval | None, ...]
    """The pass rate of each check; None where it has graded no record."""
    absent: tuple[str, ...]
    """Why a check has no rate, by check; empty where it has one."""
    people: Interval | None
    """What people who have read some of its answers pass; None where they have read none."""
    adjusted_p: float | None
    """Of the difference from all other records, where that is below the level; else None."""

    @property
    def lowest(self) -> float:
        """The lowest rate of the row; 2 where there is none."""
        rates = [found for found in (self.pass_rate, *self.checks, self.people) if found]
        return min((rate.value for rate in rates if rate.value is not None), default=2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatTable:
    """The slices of a run with the pass rates of its checks."""

    field: str
    """What the slices are values of; empty where they are of several fields."""
    checks: tuple[str, ...]
    left_out: tuple[str, ...]
    """Checks that the table has no room for: those with the highest rates."""
    has_people: bool
    people_note: str
    """Of which answers the rates of people are."""
    rows: tuple[HeatRow, ...]
    """Those of the page."""
    total: int
    """All slices with enough records."""
    weak: int
    """How many slices are significantly below the rest; they come first."""
    page: int
    pages: int
    folded: tuple[HeatRow, ...]
    """The first slices with too few records."""
    total_folded: int

    @property
    def first(self) -> int:
        """The place of the first slice of the page, from 1 on; 0 where there is none."""
        return (self.page - 1) * MOST_ROWS + 1 if self.rows else 0

    @property
    def more_folded(self) -> int:
        """Slices with too few records that are not named."""
        return self.total_folded - len(self.folded)


def heat_table(
    metrics: Metrics,
    slices: Iterable[Slice],
    people: PeopleRates = NOBODY,
    people_note: str = "",
    page: int = 1,
) -> HeatTable | None:
    """A page of the table; None where no record belongs to a slice."""
    known = [one for one in slices if one.value is not None]
    if not known:
        return None
    checks, left_out = _checks(metrics)
    rows = sorted((_row(one, checks, metrics, people) for one in known), key=_order)
    fields = {one.slice for one in known}
    large = [row for row in rows if row.total >= MIN_SLICE]
    small = [row for row in rows if row.total < MIN_SLICE]
    pages = max(1, -(-len(large) // MOST_ROWS))
    page = min(max(1, page), pages)
    return HeatTable(
        field=fields.pop() if len(fields) == 1 else "",
        checks=checks,
        left_out=left_out,
        has_people=bool(people),
        people_note=people_note,
        rows=tuple(large[(page - 1) * MOST_ROWS : page * MOST_ROWS]),
        total=len(large),
        weak=sum(row.adjusted_p is not None for row in large),
        page=page,
        pages=pages,
        folded=tuple(small[:_MOST_FOLDED]),
        total_folded=len(small),
    )


def _checks(metrics: Metrics) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The checks of the columns in the order of the run, and those left out."""
    names = tuple(metrics.checks)
    rates = {name: one.pass_rate.value for name, one in metrics.checks.items()}
    lowest = sorted(names, key=lambda name: 2.0 if (rate := rates[name]) is None else rate)
    shown = set(lowest[:_MOST_CHECKS])
    return tuple(name for name in names if name in shown), tuple(lowest[_MOST_CHECKS:])


def _row(one: Slice, checks: Iterable[str], metrics: Metrics, people: PeopleRates) -> HeatRow:
    whole, rate = metrics.pass_rate.value, one.pass_rate.value
    is_lower = whole is not None and rate is not None and rate < whole
    is_weak = is_lower and one.adjusted_p is not None and one.adjusted_p <= WEAK
    return HeatRow(
        slice=one.slice,
        value=str(one.value),
        total=one.total_records,
        unscored=one.total_records - one.evaluated_records,
        pass_rate=one.pass_rate,
        pass_count=one.pass_count,
        checks=tuple(
            one.checks[name].pass_rate if name in one.checks else None for name in checks
        ),
        absent=tuple(_absent(one.checks.get(name)) for name in checks),
        people=people.get((one.slice, str(one.value))),
        adjusted_p=one.adjusted_p if is_weak else None,
    )


def _absent(found: CheckMetrics | None) -> str:
    """Why a check has no rate in a slice; empty where it has one."""
    if found is None:
        return "not graded"
    if found.pass_rate.value is not None:
        return ""
    numbers = ((found.skipped, "skipped"), (found.unscored, "unscored"))
    return ", ".join(f"{count(number)} {word}" for number, word in numbers if number) or "no value"


def _order(row: HeatRow) -> tuple[bool, float, int, str, str]:
    """Slices below the rest, then the lowest rates; without any rate, those that lack most."""
    return row.adjusted_p is None, row.lowest, -row.unscored, row.slice, row.value
