"""A validation in a judge's file: the contract's five fields, and what they rest on.

What a file says can be typed by hand, and does not show the labels. It tells how long ago the
judge was validated, and no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.judge import Judge
from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import JudgeValidation

MOST_FINGERPRINTS = 100
"""A file names no more than so many; a judge of more questions is known by the registry alone."""
_CELLS = ("tp", "fn", "tn", "fp")
_OURS = {
    *("tpr", "tnr", "validated_against", "validated_at", "sample_size", "tpr_interval"),
    *("tnr_interval", "counts", "label_set_sha256", "exposure", "design", "split", "rule"),
    *("canary_false_pass_rate", "fingerprints"),
}


def validation_row(validation: JudgeValidation, before: JsonValue = None) -> JsonObject:
    """What a judge's file says of its validation; what its author wrote beside that stays."""
    counts = validation.counts
    from steelyard.stats.confusion import known_rates  # noqa: PLC0415 - it loads numpy

    rates = known_rates(validation)
    row: JsonObject = {
        "tpr": _rounded(rates.tpr.value),
        "tnr": _rounded(rates.tnr.value),
        "validated_against": validation.validated_against,
        "validated_at": validation.validated_at,
        "sample_size": counts.n,
        "tpr_interval": _bounds(rates.tpr),
        "tnr_interval": _bounds(rates.tnr),
        "counts": {name: cast(int, getattr(counts, name)) for name in _CELLS},
        "label_set_sha256": validation.label_set_sha256,
        "exposure": "blind",
        "design": validation.design,
        "split": validation.split,
        "rule": validation.rule,
        "canary_false_pass_rate": _rounded(validation.canaries.rate),
    }
    if len(validation.fingerprints) <= MOST_FINGERPRINTS:
        row["fingerprints"] = list(validation.fingerprints)
    stays = before if isinstance(before, dict) else {}
    return {
        **{name: value for name, value in row.items() if value is not None},
        **{name: value for name, value in stays.items() if name not in _OURS},
    }


class FileClaim(NamedTuple):
    """What a judge's file says of its validation."""

    validated_at: str
    sample_size: int | None = None
    fingerprints: tuple[str, ...] | None = None
    """None where the file does not say what was validated, as in the contract's five fields."""
    rule: str | None = None

    def is_about(self, fingerprints: Iterable[str], rule: str) -> bool:
        """Whether it may be about a judge that asks this and decides so."""
        if self.rule not in {None, rule}:
            return False
        return self.fingerprints is None or set(fingerprints) <= set(self.fingerprints)


def file_claim(judge: Judge) -> FileClaim | None:
    """What a judge's file says of its validation; None where it says no time."""
    written = judge.validation
    if written is None or written.validated_at is None:
        return None
    marks, rule = written.extra.get("fingerprints"), written.extra.get("rule")
    return FileClaim(
        written.validated_at,
        written.sample_size,
        tuple(map(str, marks)) if isinstance(marks, list) else None,
        rule if isinstance(rule, str) else None,
    )


def _bounds(found: Interval) -> list[JsonValue] | None:
    return None if found.value is None else [_rounded(found.low), _rounded(found.high)]


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
