"""Validations of a judge, written down in a test."""

from __future__ import annotations

from typing import Any

from steelyard.model.statistics.validation import Counts, JudgeValidation, LabelledItem

JUDGE = "judge/right@1.0.0"
RULE = "llm_judge at 0.7"
DAY = "2026-05-01"


def an_item(index: int, **more: Any) -> LabelledItem:
    """A labelled response: a good one that the judge passes."""
    known: dict[str, Any] = {
        "run_id": "run_1",
        "repeat": 0,
        "record_id": f"q{index}",
        "is_good": True,
        "is_passed": True,
        **more,
    }
    return LabelledItem(index=index, **known)


def a_validation(**more: Any) -> JudgeValidation:
    """A validation by lot of the judge that asks `mark`."""
    known: dict[str, Any] = {
        "judge": JUDGE,
        "fingerprints": ("mark",),
        "rule": RULE,
        "validated_at": DAY,
        "counts": Counts(tp=90, fn=10, tn=40, fp=10),
        "label_set_sha256": "labels",
        "design": "random",
        **more,
    }
    return JudgeValidation(**known)
