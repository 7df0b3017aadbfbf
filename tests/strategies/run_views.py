"""Finished runs as reports see them, made from facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import fakes.predictions
from fakes.manifests import manifest
from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.reports.run.run_text import RunView
from steelyard.results.facts import Facts
from steelyard.results.predictions import Prediction


def run_view(given: Iterable[Facts] = (), **changes: Any) -> RunView:
    metrics, slices = metrics_of(given)
    return RunView(
        manifest=manifest(**changes), metrics=metrics, slices=slices, folder="runs/run_01"
    )


def prediction(index: int, **others: Any) -> Prediction:
    """A row of predictions.jsonl that passed, unless told otherwise."""
    known = {"reason": "right: equals '4'", "latency_ms": 1234.5}
    return fakes.predictions.prediction(index, **{**known, **others})
