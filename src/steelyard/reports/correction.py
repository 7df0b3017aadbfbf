"""A corrected pass rate as people read it, or that there is none and why."""

from __future__ import annotations

from typing import cast

from steelyard.model.json_value import JsonObject
from steelyard.reports.findings import printable
from steelyard.reports.numbers import count, percent, rate_text


def correction_of(metrics: JsonObject) -> JsonObject | None:
    """The corrected pass rate of a run; None where no judge decides it."""
    return cast("JsonObject | None", metrics.get("corrected_pass_rate"))


def is_corrected(row: JsonObject) -> bool:
    """Whether there is a number; else `reason` says why not."""
    return row["value"] is not None


def corrected_text(row: JsonObject) -> str:
    """The rate with its interval and what it rests on; or why there is none."""
    if not is_corrected(row):
        return printable(str(row["reason"]))
    by = f"{row['method']}, {count(row['labels'])} labels, {count(row['n'])} records"
    return f"{rate_text(row)}  ({by})"


def judge_text(row: JsonObject) -> str:
    """How far the judge is right, where that is known."""
    if not is_corrected(row):
        return ""
    tpr, tnr = (cast(JsonObject, row[name]) for name in ("tpr", "tnr"))
    day = str(row["validated_at"])[:10]
    rates = f"TPR {percent(tpr['value'])}, TNR {percent(tnr['value'])}"
    later = ", after this run" if row.get("is_later") else ""
    return f"{printable(str(row['judge']))}: {rates}, validated {day}{later}"
