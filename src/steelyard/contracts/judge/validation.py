"""A validation in a judge's file: the contract's five fields, and what they rest on."""

from __future__ import annotations

from typing import cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.judge import Judge
from steelyard.model.label import DESIGNS
from steelyard.model.validation import Counts, JudgeValidation
from steelyard.stats.intervals import Interval

MOST_FINGERPRINTS = 100
"""A file names no more than so many; a judge of more questions is known by the registry alone."""
_CELLS = ("tp", "fn", "tn", "fp")


def validation_row(validation: JudgeValidation) -> JsonObject:
    """What a judge's file says of its validation."""
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
    return {name: value for name, value in row.items() if value is not None}


def written_validation(judge: Judge) -> JudgeValidation | None:
    """The validation that a judge's file holds, if it says for which fingerprints.

    The contract's five fields alone say that there was one, and not of which instrument.
    """
    written = judge.validation
    if written is None or written.validated_at is None:
        return None
    marks, rule = written.extra.get("fingerprints"), written.extra.get("rule")
    counts = written.extra.get("counts")
    cells = [counts.get(name) for name in _CELLS] if isinstance(counts, dict) else [None]
    if not isinstance(marks, list) or not isinstance(rule, str) or not all(map(_is_count, cells)):
        return None
    design = written.extra.get("design")
    return JudgeValidation(
        judge=judge.name,
        fingerprints=tuple(mark for mark in marks if isinstance(mark, str)),
        rule=rule,
        validated_at=written.validated_at,
        counts=Counts(**dict(zip(_CELLS, cast(list[int], cells), strict=True))),
        label_set_sha256=str(written.extra.get("label_set_sha256", "")),
        validated_against=written.validated_against or "",
        design=design if design in DESIGNS else None,
        applicable_to=judge.applicable_to,
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _bounds(found: Interval) -> list[JsonValue] | None:
    return None if found.value is None else [_rounded(found.low), _rounded(found.high)]


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
