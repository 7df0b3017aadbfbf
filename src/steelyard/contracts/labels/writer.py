"""Writes labels as rows of JSONL."""

from __future__ import annotations

from steelyard.model.exemption import Exemption
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.label import Label

EXEMPT = Exemption.of(
    *("run_id", "repeat", "queue_id", "exposure", "inclusion_prob", "rubric_sha256"),
    numbers=("answers",),
)
"""What redaction leaves alone in a row: a hash may have the digits of a card."""


def label_row(label: Label, answers: JsonObject | None) -> JsonObject:
    """A label as its row; its answers in the form in which they are stored."""
    row: JsonObject = {"record_id": label.record_id}
    if label.run_id is not None:
        row["run_id"] = label.run_id
    if label.repeat:
        row["repeat"] = label.repeat
    row |= {"rubric": label.rubric, "annotator": label.annotator, "exposure": label.exposure}
    if label.queue_id is not None:
        row["queue_id"] = label.queue_id
    if label.inclusion_prob is not None:
        row["inclusion_prob"] = label.inclusion_prob
    if label.is_tie_break:
        row["tie_break"] = True
    if answers is not None:
        row["answers"] = answers
    if label.passed is not None:
        row["passed"] = label.passed
    if label.rubric_sha256 is not None:
        row["rubric_sha256"] = label.rubric_sha256
    return {**row, **label.extra}
