"""Slices that pass less often than the rest, and slices in which scores are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, cast

from steelyard.model.json_value import JsonObject
from steelyard.reports.numbers import count, rate_text

_SHOWN = 3
_MIN_SLICE = 5
_LEVEL = 0.05


class LowSlice(NamedTuple):
    """A slice with a low pass rate."""

    word: Literal["weak slice", "lowest"]
    """Weak where it is below the rest by more than chance, else only one of the lowest."""
    name: str
    text: str


def low_slices(
    metrics: JsonObject, slices: JsonObject, most: int | None = _SHOWN
) -> list[LowSlice]:
    """The slices that are below the rest by more than chance, then the lowest of the others.

    A slice counts with five records or more, and only where its rate is below that of the run.
    """
    whole = cast("float | None", cast(JsonObject, metrics["pass_rate"])["value"])
    found: list[tuple[bool, float, LowSlice]] = []
    for row in cast(list[JsonObject], slices["slices"]):
        rate = cast(JsonObject, row["pass_rate"])
        if row["value"] is None or cast(int, rate["n"]) < _MIN_SLICE:
            continue
        value = cast(float, rate["value"])
        if whole is not None and value < whole:
            is_weak = _differs(row)
            word = "weak slice" if is_weak else "lowest"
            name = f"{row['slice']} = {row['value']}"
            text = f"{rate_text(rate)}  n = {count(rate['n'])}{_reason(row, is_weak=is_weak)}"
            found.append((not is_weak, value, LowSlice(word, name, text)))
    found.sort(key=lambda entry: (*entry[:2], entry[2].name))
    return [one for *_, one in found[:most]]


def _differs(row: JsonObject) -> bool:
    held = cast("float | None", row.get("adjusted_p"))
    return held is not None and held <= _LEVEL


def _reason(row: JsonObject, *, is_weak: bool) -> str:
    if not is_weak:
        return ", could be chance"
    return f", below the rest (adjusted p = {cast(float, row['adjusted_p']):.3f})"


def uneven_slices(metrics: JsonObject) -> Iterator[str]:
    """The slices in which scores are missing more or less often than elsewhere."""
    # Runs of earlier versions do not know it.
    missing = cast(JsonObject, metrics.get("missing") or {"uneven_slices": []})
    for row in cast(list[JsonObject], missing["uneven_slices"]):
        share = f"{count(row['missing'])} of {count(row['valid'])} have no score"
        rest = cast(int, missing["missing"]) - cast(int, row["missing"])
        others = cast(int, missing["valid"]) - cast(int, row["valid"])
        name = f"{row['slice']} = {row['value']}"
        yield f"{name}: {share}, of the others {count(rest)} of {count(others)}"
