"""Writes a judge; what was read comes back unchanged."""

from __future__ import annotations

from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge, Validation


def judge_row(judge: Judge) -> JsonObject:
    """A judge with its fields in the usual order; absent ones are left out."""
    row: JsonObject = {"id": judge.id, "version": judge.version}
    if judge.description:
        row["description"] = judge.description
    row["score_type"] = judge.score_type
    if judge.level_names:
        row["level_names"] = list(judge.level_names)
    row["template"] = judge.template
    if judge.validation is not None:
        row["validation"] = _validation_row(judge.validation)
    if judge.applicable_to is not None:
        row["applicable_to"] = list(judge.applicable_to)
    return {**row, **judge.extra}


def _validation_row(validation: Validation) -> JsonObject:
    row: JsonObject = {
        "tpr": validation.tpr,
        "tnr": validation.tnr,
        "validated_against": validation.validated_against,
        "validated_at": validation.validated_at,
        "sample_size": validation.sample_size,
    }
    return {
        **{name: value for name, value in row.items() if value is not None},
        **validation.extra,
    }
