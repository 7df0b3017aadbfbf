"""A corrected pass rate as people read it, or that there is none and why."""

from __future__ import annotations

from typing import cast

from steelyard.model.json_value import JsonObject
from steelyard.reports.findings import printable
from steelyard.reports.numbers import count, percent, rate_text
from steelyard.stats.intervals import DIFFERENT

OWN_LABELS = "own labels"
LABELS_OF_ANOTHER_RUN = "labels of another run"
_DIRECTIONS = {
    (-1, -1): "less accurate",
    (-1, 0): "stricter",
    (-1, 1): "stricter",
    (0, -1): "more lenient",
    (0, 1): "stricter",
    (1, -1): "more lenient",
    (1, 0): "more lenient",
    (1, 1): "more accurate",
}
"""What it means that TPR and TNR fell (-1), rose (1) or did neither (0)."""
_MEANING = {
    ("tpr", -1): "it fails more good answers",
    ("tpr", 1): "it fails fewer good answers",
    ("tnr", -1): "it passes more bad answers",
    ("tnr", 1): "it passes fewer bad answers",
}


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
    labels, records = count(row["labels"]), count(row["n"])
    whose = f"labels of {_labelled_runs(row)}"
    if not is_borrowed(row):
        whose = f"labels of these responses in {_labelled_runs(row)}"
    return f"{rate_text(row)}  ({row['method']}, {labels} {whose}, {records} records)"


def is_borrowed(row: JsonObject) -> bool:
    """Whether a corrected rate rests on labels of another run alone."""
    return row.get("basis") == LABELS_OF_ANOTHER_RUN


def judge_text(row: JsonObject) -> str:
    """How often the judge is right, where that is known, and what is assumed of it."""
    if not is_corrected(row):
        return ""
    tpr, tnr = (cast(JsonObject, row[name]) for name in ("tpr", "tnr"))
    day = str(row["validated_at"])[:10]
    rates = (
        f"passes {percent(tpr['value'])} of good answers (TPR), "
        f"fails {percent(tnr['value'])} of bad ones (TNR)"
    )
    later = ", after this run" if row.get("is_later") else ""
    assumed = ""
    if is_borrowed(row):
        assumed = f"; assumes the judge errs on this run as on {_labelled_runs(row)}"
    return f"{printable(str(row['judge']))} {rates}, validated {day}{later}{assumed}"


def drift_text(row: JsonObject) -> str:
    """How far the judge errs otherwise than on earlier labels; empty where nothing is known."""
    drift = cast("JsonObject | None", row.get("drift"))
    if drift is None:
        return ""
    parts = [_change_text(name, cast(JsonObject, drift[name])) for name in ("tpr", "tnr")]
    direction = drift_direction(drift)
    word = f"the judge has drifted and is {direction}" if direction else "no drift found"
    return f"{word} since the labels of {str(drift['against'])[:10]}: {'; '.join(parts)}"


def _change_text(name: str, rate: JsonObject) -> str:
    change = _change(rate)
    here, before = percent(rate["here"]), percent(rate["before"])
    p_value = p_text(cast(float, rate["p_value"]))
    if not change:
        return f"{name.upper()} {here} here, {before} before ({p_value})"
    verb = "fell" if change < 0 else "rose"
    meaning = _MEANING[name, change]
    return f"{meaning}, {name.upper()} {verb} from {before} to {here} ({p_value})"


def drift_direction(drift: JsonObject) -> str | None:
    """How the judge has changed; None where neither TPR nor TNR did."""
    changes = (_change(cast(JsonObject, drift[name])) for name in ("tpr", "tnr"))
    tpr, tnr = changes
    return _DIRECTIONS.get((tpr, tnr))


def _change(rate: JsonObject) -> int:
    """Whether a rate rose (1) or fell (-1); 0 where the difference could be chance."""
    if cast(float, rate["p_value"]) >= DIFFERENT:
        return 0
    return 1 if cast(float, rate["here"]) > cast(float, rate["before"]) else -1


def is_drifted(row: JsonObject) -> bool:
    """Whether the judge errs otherwise on this run than on earlier labels."""
    drift = cast("JsonObject | None", row.get("drift"))
    return bool(drift and drift["is_drifted"])


def needed_text(row: JsonObject) -> str:
    """About how many labels of the run give ± 5 points."""
    needed = cast("int | None", row["labels_for_5_points"])
    if needed is None:
        few = f"with {count(row['n'])} records; add records"
        return f"no number of labels gives an interval of ± 5 points {few}"
    more = ", more than it has: add records" if needed > cast(int, row["n"]) else ""
    return f"about {count(needed)} labels of this run would give an interval of ± 5 points{more}"


def p_text(p_value: float) -> str:
    """A p-value as it is printed."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def _labelled_runs(row: JsonObject) -> str:
    runs = cast("list[str]", row.get("labelled_runs") or [])
    return printable(", ".join(runs)) if runs else "the labelled run"
