"""A folder that MLflow reads as its file store.

The dataset is the experiment, and the run its run, with numbers as metrics, settings as
parameters, and the rows as the table that `mlflow.load_table` reads.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from steelyard.results.manifest import Manifest
from steelyard.results.metrics import Metrics
from steelyard.usecases.results.exports.exported_file import ExportedFile
from steelyard.usecases.results.exports.rows import check_names
from steelyard.usecases.results.exports.table import export_table
from steelyard.usecases.results.exports.uncorrected import uncorrected
from steelyard.usecases.results.read_run import read_predictions, read_run

TABLE = "predictions.json"
_STATUSES = {"completed": 3, "completed_with_failures": 3, "failed": 4, "cancelled": 5}
_SOURCE_LOCAL = 4
_UNSAFE = re.compile(r"[^A-Za-z0-9_./ -]+")
_COUNTS = ("total", "valid", "evaluated", "failed", "skipped", "invalid", "cancelled")


def export_mlflow(folder: Path, root: Path) -> Iterator[ExportedFile]:
    """The files of the store; their addresses name the folder that they are written to."""
    view = read_run(folder)
    manifest, metrics = view.manifest, view.metrics
    experiment = _number(manifest.setup.dataset_id)
    run = hashlib.sha256(manifest.run_id.encode()).hexdigest()[:32]
    place = root.resolve().as_uri()
    yield _meta(experiment, _experiment(manifest, experiment, place))
    yield _meta(f"{experiment}/{run}", _run(manifest, experiment, run, place))
    at = _milliseconds(manifest.completed_at or manifest.created_at)
    for name, value in _metrics(metrics):
        yield ExportedFile(f"{experiment}/{run}/metrics/{_safe(name)}", [f"{at} {value!r} 0\n"])
    for name, value in _params(manifest):
        yield ExportedFile(f"{experiment}/{run}/params/{name}", [str(value)])
    table = [{"path": TABLE, "type": "json"}]
    tags = {"mlflow.runName": manifest.run_id, "mlflow.loggedArtifacts": json.dumps(table)}
    marks = {f"steelyard.{name}": why for name, why in uncorrected(metrics).items()}
    for name, value in {**tags, **marks, "steelyard.status": manifest.status}.items():
        yield ExportedFile(f"{experiment}/{run}/tags/{name}", [value])
    rows = export_table(read_predictions(folder), check_names(folder))
    yield ExportedFile(f"{experiment}/{run}/artifacts/{TABLE}", rows)


def _meta(path: str, values: dict[str, Any]) -> ExportedFile:
    # JSON is YAML.
    text = "".join(f"{name}: {json.dumps(value)}\n" for name, value in sorted(values.items()))
    return ExportedFile(f"{path}/meta.yaml", [text])


def _experiment(manifest: Manifest, number: str, place: str) -> dict[str, Any]:
    at = _milliseconds(manifest.created_at)
    return {
        "artifact_location": f"{place}/{number}",
        "creation_time": at,
        "experiment_id": number,
        "last_update_time": at,
        "lifecycle_stage": "active",
        "name": manifest.setup.dataset_id,
    }


def _run(manifest: Manifest, experiment: str, run: str, place: str) -> dict[str, Any]:
    ended = manifest.completed_at
    return {
        "artifact_uri": f"{place}/{experiment}/{run}/artifacts",
        "end_time": _milliseconds(ended) if ended else None,
        "entry_point_name": "",
        "experiment_id": experiment,
        "lifecycle_stage": "active",
        "run_id": run,
        "run_name": manifest.run_id,
        "run_uuid": run,
        "source_name": "steelyard",
        "source_type": _SOURCE_LOCAL,
        "source_version": "",
        "start_time": _milliseconds(manifest.started_at or manifest.created_at),
        "status": _STATUSES[manifest.status],
        "tags": [],
        "user_id": "",
    }


def _metrics(metrics: Metrics) -> Iterator[tuple[str, float]]:
    """What has a value: a rate with the ends of its interval and its denominator."""
    figures = {"pass_rate": metrics.pass_rate, "score": metrics.score}
    figures |= {f"checks/{name}": one.pass_rate for name, one in metrics.checks.items()}
    for name, figure in figures.items():
        ends = {"": figure.value, "_low": figure.low, "_high": figure.high, "_n": figure.n}
        yield from ((name + end, float(value)) for end, value in ends.items() if value is not None)
    if (corrected := metrics.corrected_pass_rate) and corrected.value is not None:
        ends = {"": corrected.value, "_low": corrected.low, "_high": corrected.high}
        named = ((f"corrected_pass_rate{end}", value) for end, value in ends.items())
        yield from ((name, value) for name, value in named if value is not None)
    for name in _COUNTS:
        yield f"{name}_records", float(getattr(metrics, f"{name}_records"))
    others = {
        "latency_ms_p50": metrics.latency_ms.p50,
        "latency_ms_p95": metrics.latency_ms.p95,
        "first_token_ms_p50": metrics.first_token_ms.p50,
        "first_token_ms_p95": metrics.first_token_ms.p95,
        "tokens": metrics.tokens.total,
        "cost_usd": metrics.cost_usd.total,
    }
    yield from ((name, float(value)) for name, value in others.items() if value is not None)


def _params(manifest: Manifest) -> Iterator[tuple[str, object]]:
    setup = manifest.setup
    names = ("dataset_id", "dataset_version", "contract", "model", "temperature", "top_p", "seed")
    yield from ((one, value) for one in names if (value := getattr(setup, one)) is not None)
    yield "targets", ", ".join(setup.targets)
    if setup.rubrics:
        yield "rubrics", ", ".join(one.rubric for one in setup.rubrics)


def _number(name: str) -> str:
    """An id of digits that an experiment of this name always has."""
    return str(int(hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:14], 16))


def _safe(name: str) -> str:
    """A name of a metric as MLflow takes it, which leads nowhere else."""
    parts = (part.strip(". ") for part in _UNSAFE.sub("_", name).split("/"))
    return "/".join(part or "_" for part in parts)


def _milliseconds(at: str) -> int:
    return int(datetime.fromisoformat(at).timestamp() * 1000)
