"""Slices against the rest: whether their pass rate differs, and whether scores are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from steelyard.engine.fact_table import FactTable
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.stats.multiplicity import adjusted
from steelyard.stats.tables import AgainstRest, independence

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL = 0.05


def add_p_values(table: FactTable, whole: JsonObject, slices: Sequence[JsonObject]) -> None:
    """Say of every slice whether its pass rate, and its missing scores, differ from the rest.

    The p-values hold for all slices together (Benjamini and Hochberg). Independent passes and
    fails have an exact test; repeats and records of one conversation are tested by cluster.
    """
    for row in slices:
        row |= {"p_value": None, "adjusted_p": None}
    named = [row for row in slices if row["value"] is not None]
    p_values = _pass_tests(table, whole, named)
    for row, p_value, held in zip(named, p_values, adjusted(p_values), strict=True):
        row |= {"p_value": p_value, "adjusted_p": held}
    whole["missing"] = _missing(table, whole, named)


def _pass_tests(table: FactTable, whole: JsonObject, slices: Sequence[JsonObject]) -> list[float]:
    scored = table.scored.within(None, table.clusters)
    kinds = table.scored.passes.counts()
    if scored.labels is None and kinds is not None and set(kinds) <= {0.0, 1.0}:
        return [_table_test(whole, row, "pass_count", "evaluated_records") for row in slices]
    rest = AgainstRest(table.scored.passes.numbers(), scored.labels)
    return [
        rest.p_value(cast("NDArray[Any]", table.scored.places.entries(_records(table, row))))
        for row in slices
    ]


def _records(table: FactTable, row: JsonObject) -> NDArray[Any]:
    key = (cast(str, row["slice"]), cast("str | None", row["value"]))
    return cast("NDArray[Any]", table.members.records(table.members.slices[key]))


def _table_test(whole: JsonObject, row: JsonObject, part: str, of: str) -> float:
    found, size = cast(int, row[part]), cast(int, row[of])
    other, rest = cast(int, whole[part]) - found, cast(int, whole[of]) - size
    return independence(found, size - found, other, rest - other)


def _missing(table: FactTable, whole: JsonObject, slices: Sequence[JsonObject]) -> JsonObject:
    """How many valid records have no score, and the slices where that is another share."""
    counted = [{"missing": _gone(row), "valid": row["valid_records"]} for row in (whole, *slices)]
    p_values = _missing_tests(table, counted, slices)
    uneven: list[JsonValue] = [
        {"slice": row["slice"], "value": row["value"], **found, "adjusted_p": p_value}
        for row, found, p_value in zip(slices, counted[1:], adjusted(p_values), strict=True)
        if p_value <= LEVEL
    ]
    return {**counted[0], "uneven_slices": uneven}


def _missing_tests(
    table: FactTable, counted: Sequence[JsonObject], slices: Sequence[JsonObject]
) -> list[float]:
    whole = counted[0]
    if not whole["missing"]:
        return [1.0] * len(slices)
    valid = np.ones(table.records, dtype=bool)
    valid[table.invalid.records()] = False
    labels = table.clusters.of(np.flatnonzero(valid))
    if labels is None:
        return [_table_test(whole, row, "missing", "valid") for row in counted[1:]]
    gone = np.ones(table.records)
    gone[table.scored.places.records()] = 0.0
    rest = AgainstRest(gone[valid], labels)
    places = np.cumsum(valid) - 1
    found = (_records(table, row) for row in slices)
    return [rest.p_value(places[records[valid[records]]]) for records in found]


def _gone(row: JsonObject) -> int:
    return cast(int, row["valid_records"]) - cast(int, row["evaluated_records"])
