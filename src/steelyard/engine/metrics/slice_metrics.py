"""Slices against the rest: whether their pass rate differs, and whether scores are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from msgspec import structs

from steelyard.engine.metrics.fact_table import FactTable
from steelyard.results.metrics import Metrics, Missing, Slice, Summary, UnevenSlice
from steelyard.stats.arrays import np
from steelyard.stats.multiplicity import adjusted
from steelyard.stats.tables import AgainstRest, independence

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL = 0.05
Share: TypeAlias = tuple[int, int]
"""How many of how many."""


def with_p_values(table: FactTable, whole: Metrics, slices: Sequence[Slice]) -> list[Slice]:
    """The slices, with whether the pass rate of each differs from that of the rest.

    The p-values hold for all slices together (Benjamini and Hochberg). Independent passes and
    fails have an exact test; repeats and records of one conversation are tested by cluster.
    """
    p_values = _pass_tests(table, whole, _named(slices))
    tested = zip(p_values, adjusted(p_values), strict=True)
    return [one if one.value is None else _tested(one, *next(tested)) for one in slices]


def _tested(one: Slice, p_value: float, adjusted_p: float) -> Slice:
    return structs.replace(one, p_value=p_value, adjusted_p=adjusted_p)


def _named(slices: Sequence[Slice]) -> list[Slice]:
    return [one for one in slices if one.value is not None]


def _pass_tests(table: FactTable, whole: Metrics, slices: Sequence[Slice]) -> list[float]:
    scored = table.scored.within(None, table.clusters)
    kinds = table.scored.passes.counts()
    if scored.labels is None and kinds is not None and set(kinds) <= {0.0, 1.0}:
        passes = int(whole.pass_count), whole.evaluated_records
        return [
            _table_test(passes, (int(one.pass_count), one.evaluated_records)) for one in slices
        ]
    rest = AgainstRest(table.scored.passes.numbers(), scored.labels)
    return [
        rest.p_value(cast("NDArray[Any]", table.scored.places.entries(_records(table, one))))
        for one in slices
    ]


def _records(table: FactTable, one: Slice) -> NDArray[Any]:
    number = table.members.slices[one.slice, one.value]
    return cast("NDArray[Any]", table.members.records(number))


def _table_test(whole: Share, part: Share) -> float:
    """A share of a slice against that of the other records."""
    found, size = part
    other, rest = whole[0] - found, whole[1] - size
    return independence(found, size - found, other, rest - other)


def with_missing(table: FactTable, whole: Metrics, slices: Sequence[Slice]) -> Metrics:
    """The metrics, with how many valid records have no score and where that is another share."""
    named = _named(slices)
    p_values = adjusted(_missing_tests(table, _gone(whole), named))
    uneven = tuple(
        UnevenSlice(
            slice=one.slice, value=one.value, missing=gone, valid=valid, adjusted_p=p_value
        )
        for one, p_value in zip(named, p_values, strict=True)
        for gone, valid in [_gone(one)]
        if p_value <= LEVEL
    )
    gone, valid = _gone(whole)
    missing = Missing(missing=gone, valid=valid, uneven_slices=uneven)
    return structs.replace(whole, missing=missing)


def _missing_tests(table: FactTable, whole: Share, slices: Sequence[Slice]) -> list[float]:
    if not whole[0]:
        return [1.0] * len(slices)
    valid = np.ones(table.records, dtype=bool)
    valid[table.invalid.records()] = False
    labels = table.clusters.of_records(np.flatnonzero(valid))
    if labels is None:
        return [_table_test(whole, _gone(one)) for one in slices]
    gone = np.ones(table.records)
    gone[table.scored.places.records()] = 0.0
    rest = AgainstRest(gone[valid], labels)
    places = np.cumsum(valid) - 1
    found = (_records(table, one) for one in slices)
    return [rest.p_value(places[records[valid[records]]]) for records in found]


def _gone(one: Summary) -> Share:
    """How many valid records have no score, and how many there are."""
    return one.valid_records - one.evaluated_records, one.valid_records
