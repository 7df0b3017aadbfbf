"""The metrics of a run's folder that is written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.results.metrics import Metrics
from steelyard.usecases.runs.execute import FinishedRun
from strategies.run_facts import facts


def metrics(passes: Iterable[bool | None] = ()) -> Metrics:
    """Those of records that passed, failed or have no score."""
    return metrics_of(facts(index, passed=passed) for index, passed in enumerate(passes))[0]


def write_metrics(folder: Path, passes: Iterable[bool | None] = ()) -> None:
    """The two files that hold them, without slices, and no failures."""
    summary = json.dumps(metrics(passes).json())
    (folder / "metrics_summary.json").write_text(summary, encoding="utf-8")
    (folder / "metrics_by_slice.json").write_text('{"slices": []}', encoding="utf-8")
    (folder / "failures.jsonl").touch()


def measured(run: FinishedRun) -> Metrics:
    """Those of a run that has some."""
    assert run.metrics
    return run.metrics
