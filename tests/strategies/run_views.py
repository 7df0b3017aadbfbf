"""Finished runs as reports see them, made from facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fakes.manifests import manifest
from steelyard.contracts.run_artifacts.facts import Facts
from steelyard.engine.metrics import metrics_of
from steelyard.model.json_value import JsonObject
from steelyard.reports.run_text import RunView


def run_view(given: Iterable[Facts] = (), **changes: Any) -> RunView:
    metrics, slices = metrics_of(given)
    return RunView(
        manifest=manifest(**changes), metrics=metrics, slices=slices, folder="runs/run_01"
    )


def prediction(index: int, **others: Any) -> JsonObject:
    """A row of predictions.jsonl that passed, unless told otherwise."""
    known: JsonObject = {
        "index": index,
        "record_id": f"q{index}",
        "target": "live",
        "repeat": 0,
        "status": "evaluated",
        "evaluator_scores": [],
        "model_response": "4",
        "passed": True,
        "reason": "right: equals '4'",
        "latency_ms": 1234.5,
    }
    return {**known, **others}
