"""Slices against the rest, and several tries of one case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.stats.multiplicity import adjusted
from steelyard.stats.repeats import Tries, pass_at_k, pass_hat_k
from steelyard.stats.tables import independence

LEVEL = 0.05


def tell_apart(whole: JsonObject, slices: Sequence[JsonObject], *, is_grouped: bool) -> None:
    """Say of every slice whether its pass rate, and its missing scores, differ from the rest.

    The p-values hold for all slices together (Benjamini and Hochberg). Where records are alike in
    groups, passes have none: the test counts every record as evidence of its own.
    """
    for row in slices:
        row |= {"p_value": None, "adjusted_p": None}
    named = [row for row in slices if row["value"] is not None]
    p_values: list[float | None] = [None] * len(named)
    if not is_grouped:
        p_values = [_against_rest(whole, row, "pass_count", "evaluated_records") for row in named]
    held = iter(adjusted([p for p in p_values if p is not None]))
    for row, p_value in zip(named, p_values, strict=True):
        if p_value is not None:
            row |= {"p_value": p_value, "adjusted_p": next(held)}
    whole["missing"] = _missing(whole, named)


def _against_rest(whole: JsonObject, row: JsonObject, part: str, of: str) -> float:
    found, size = cast(int, row[part]), cast(int, row[of])
    other, rest = cast(int, whole[part]) - found, cast(int, whole[of]) - size
    return independence(found, size - found, other, rest - other)


def _missing(whole: JsonObject, slices: Sequence[JsonObject]) -> JsonObject:
    """How many valid records have no score, and the slices where that is another share."""
    counted = [{"missing": _gone(row), "valid": row["valid_records"]} for row in (whole, *slices)]
    p_values = [_against_rest(counted[0], row, "missing", "valid") for row in counted[1:]]
    uneven: list[JsonValue] = [
        {"slice": row["slice"], "value": row["value"], **found, "adjusted_p": p_value}
        for row, found, p_value in zip(slices, counted[1:], adjusted(p_values), strict=True)
        if p_value <= LEVEL
    ]
    return {**counted[0], "uneven_slices": uneven}


def _gone(row: JsonObject) -> int:
    return cast(int, row["valid_records"]) - cast(int, row["evaluated_records"])


def repeats_row(tries: Tries) -> JsonObject | None:
    """At least one pass, and all passes, in as many tries as most cases had."""
    if not tries:
        return None
    k = max(n for _, n in tries)
    return {
        "k": k,
        "pass_at_k": cast(JsonObject, asdict(pass_at_k(tries, k))),
        "pass_hat_k": cast(JsonObject, asdict(pass_hat_k(tries, k))),
    }
