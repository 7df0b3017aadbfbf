"""Rows of predictions.jsonl for tests that need few of their fields."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.results.predictions import Prediction

SCORED: dict[str, Any] = {"kind": "equals", "score": None, "passed": True, "status": "scored"}
"""A score without the name of its check."""


def prediction_json(index: int = 0, **fields: Any) -> dict[str, Any]:
    """What the published schema requires, and some fields; a record that passed."""
    known: dict[str, Any] = {
        "index": index,
        "record_id": f"q{index}",
        "record_sha256": None,
        "target": "live",
        "repeat": 0,
        "status": "evaluated",
        "evaluator_scores": [],
        "model_response": "4",
        "trace": None,
        "score": None,
        "passed": True,
        "response_source": None,
    }
    return {**known, **fields}


def prediction(index: int = 0, **fields: Any) -> Prediction:
    """The same as a value."""
    return msgspec.convert(prediction_json(index, **fields), Prediction)
