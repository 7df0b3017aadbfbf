"""A corrected pass rate as text, or why there is none."""

from __future__ import annotations

from steelyard.model.statistics.corrected_rate import CorrectedRate, RateChange
from steelyard.reports.findings import printable
from steelyard.reports.numbers import count, percent, rate_text, share_text
from steelyard.stats.intervals import DIFFERENT

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
"""Direction of drift by the change of TPR and TNR: fell (-1), rose (1) or unchanged (0)."""
_MEANING = {
    ("tpr", -1): "it fails more good answers",
    ("tpr", 1): "it fails fewer good answers",
    ("tnr", -1): "it passes more bad answers",
    ("tnr", 1): "it passes fewer bad answers",
}


def corrected_text(found: CorrectedRate) -> str:
    """The rate with its interval and its basis, or why there is none."""
    if not found.is_corrected:
        return printable(str(found.reason))
    labels, records = count(found.labels), count(found.n)
    whose = f"labels of {_labelled_runs(found)}"
    if not found.is_borrowed:
        whose = f"labels of these responses in {_labelled_runs(found)}"
    queue = f" given in {printable(found.queue_id)}" if found.queue_id else ""
    return f"{rate_text(found)}  ({found.method}, {labels} {whose}{queue}, {records} records)"


def judge_text(found: CorrectedRate) -> str:
    """TPR and TNR of the judge, if known, and assumptions about them."""
    if not found.is_corrected or not found.tpr or not found.tnr:
        return ""
    rates = (
        f"passes {percent(found.tpr.value)} of good answers (TPR, {share_text(found.tpr)}), "
        f"fails {percent(found.tnr.value)} of bad ones (TNR, {share_text(found.tnr)})"
    )
    later = ", after this run" if found.is_later else ""
    assumed = ""
    if found.is_borrowed:
        assumed = f"; assumes the judge errs on this run as on {_labelled_runs(found)}"
    when = f"validated {str(found.validated_at)[:10]}{later}"
    return f"{printable(found.judge)} {rates}, {when}{assumed}"


def drift_text(found: CorrectedRate) -> str:
    """The drift of the judge since earlier labels; empty if unknown."""
    drift = found.drift
    if drift is None:
        return ""
    parts = [_change_text("tpr", drift.tpr), _change_text("tnr", drift.tnr)]
    direction = drift_direction(drift.tpr, drift.tnr)
    word = f"the judge has drifted and is {direction}" if direction else "no drift found"
    return f"{word} since the labels of {drift.against[:10]}: {'; '.join(parts)}"


def _change_text(name: str, rate: RateChange) -> str:
    change = _change(rate)
    here, before, p_value = percent(rate.here), percent(rate.before), p_text(rate.p_value)
    if not change:
        return f"{name.upper()} {here} here, {before} before ({p_value})"
    verb = "fell" if change < 0 else "rose"
    meaning = _MEANING[name, change]
    return f"{meaning}, {name.upper()} {verb} from {before} to {here} ({p_value})"


def drift_direction(tpr: RateChange, tnr: RateChange) -> str | None:
    """The direction of the drift; None if neither TPR nor TNR changed."""
    return _DIRECTIONS.get((_change(tpr), _change(tnr)))


def _change(rate: RateChange) -> int:
    """Whether a rate rose (1) or fell (-1); 0 if the difference is not significant."""
    if rate.p_value >= DIFFERENT:
        return 0
    return 1 if (rate.here or 0.0) > (rate.before or 0.0) else -1


def needed_text(found: CorrectedRate) -> str:
    """The approximate number of labels of the run that give ± 5 points."""
    needed = found.labels_for_5_points
    if needed is None:
        few = f"with {count(found.n)} records; add records"
        return f"no number of labels gives an interval of ± 5 points {few}"
    more = ", more than it has: add records" if needed > (found.n or 0) else ""
    return f"about {count(needed)} labels of this run would give an interval of ± 5 points{more}"


def p_text(p_value: float) -> str:
    """A p-value; small ones as `p < 0.001`."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def _labelled_runs(found: CorrectedRate) -> str:
    return printable(", ".join(found.labelled_runs)) or "the labelled run"
