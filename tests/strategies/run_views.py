"""Finished runs as reports see them, made from facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from steelyard.contracts.run_artifacts.facts import Facts
from steelyard.engine.metrics import metrics_of
from steelyard.model.json_value import JsonObject
from steelyard.reports.run_text import RunView


def run_view(given: Iterable[Facts] = (), **manifest: Any) -> RunView:
    metrics, slices = metrics_of(given)
    known: JsonObject = {
        "run_id": "run_01",
        "status": "completed",
        "completed_at": "2026-01-15T10:20:30.400+00:00",
        "dataset_id": "qa",
        "dataset_version": "1.0",
        "targets": {"live": {"provider": "echo"}},
        "rubrics": [{"rubric": "rubric/basic@1.0.0"}],
        "source": {"qa.json": "ab" * 32},
        "options": {"repeat": 1},
        "harness": {"name": "steelyard", "version": "0.1.0"},
        "environment": {"python": "3.11.7"},
        "artifacts": {"predictions.jsonl": {"sha256": "cd" * 32, "size": 12345}},
    }
    return RunView(
        manifest={**known, **manifest}, metrics=metrics, slices=slices, folder="runs/run_01"
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
