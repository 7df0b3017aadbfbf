"""Every Eval Ever: the shared schema of evaluation results, version 0.3.0.

A folder as its datastore has it: `data/<dataset>/<developer>/<model>/<uuid>.json` has the numbers
of the run, and `<uuid>_samples.jsonl` its rows. The format knows no row without a score: such
rows are counted in the numbers and left out of the samples.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.interval import Interval
from steelyard.reports.asked_text import expected_lines, request_text
from steelyard.results.manifest import Manifest
from steelyard.results.metrics import Metrics
from steelyard.results.predictions import PREDICTIONS, Prediction, read_prediction
from steelyard.usecases.results.exports.exported_file import ExportedFile
from steelyard.usecases.results.exports.messages import chat_messages, text_arguments
from steelyard.usecases.results.exports.uncorrected import uncorrected
from steelyard.usecases.results.read_run import decoded_rows, read_predictions, read_run

_SCHEMA_VERSION = "0.3.0"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_UNKNOWN = "unknown"


def export_every_eval(folder: Path) -> Iterator[ExportedFile]:
    """The two files of a run."""
    view = read_run(folder)
    manifest, metrics = view.manifest, view.metrics
    place = _place(manifest)
    samples = f"{place}_samples.jsonl"
    rows = decoded_rows(folder, PREDICTIONS, read_prediction)
    number = sum(_has_score(row) for row in rows)
    yield ExportedFile(f"{place}.json", [_document(manifest, metrics, samples, number)])
    yield ExportedFile(samples, _samples(folder, manifest))


def _document(manifest: Manifest, metrics: Metrics, samples: str, number: int) -> str:
    document: dict[str, Any] = {
        "schema_version": _SCHEMA_VERSION,
        "evaluation_id": _evaluation_id(manifest),
        "evaluation_timestamp": manifest.completed_at or manifest.created_at,
        "retrieved_timestamp": str(_epoch(manifest)),
        "source_metadata": {
            "source_name": "Steelyard",
            "source_type": "evaluation_run",
            "source_organization_name": _UNKNOWN,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "steelyard", "version": _version(manifest)},
        "model_info": _model_info(manifest),
        "evaluation_results": list(_results(manifest, metrics)),
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": samples,
            "total_rows": number,
            "additional_details": {"rows_without_score": str(metrics.rows - number)},
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _model_info(manifest: Manifest) -> dict[str, Any]:
    return {
        "name": _model(manifest),
        "id": _model(manifest),
        "developer": _developer(manifest),
        "additional_details": {
            "deployment_type": _UNKNOWN,
            "model_availability": _UNKNOWN,
            "target": ", ".join(manifest.setup.targets),
        },
    }


def _results(manifest: Manifest, metrics: Metrics) -> Iterator[dict[str, Any]]:
    """The pass rate, the corrected one, the mean score, and the pass rate of each check."""
    figures: dict[str, Interval | CorrectedRate | None] = {
        "pass_rate": metrics.pass_rate,
        "corrected_pass_rate": metrics.corrected_pass_rate,
        "score": metrics.score,
        **{f"check:{name}": one.pass_rate for name, one in metrics.checks.items()},
    }
    for name, figure in figures.items():
        if figure is not None and figure.value is not None:
            yield _result(manifest, metrics, name, figure)


def _result(
    manifest: Manifest, metrics: Metrics, name: str, figure: Interval | CorrectedRate
) -> dict[str, Any]:
    counts = ("total", "valid", "evaluated", "failed", "skipped", "cancelled")
    uncertainty: dict[str, Any] = {"num_samples": figure.n}
    if figure.low is not None and figure.high is not None:
        uncertainty["confidence_interval"] = {
            "lower": figure.low,
            "upper": figure.high,
            "confidence_level": 0.95,
            "method": figure.method or _UNKNOWN,
        }
    return {
        "evaluation_result_id": f"{manifest.run_id}/{name}",
        "evaluation_name": manifest.setup.dataset_id,
        "source_data": {
            "dataset_name": manifest.setup.dataset_id,
            "source_type": "other",
            "additional_details": {"version": manifest.setup.dataset_version or _UNKNOWN},
        },
        "metric_config": {
            "metric_id": name,
            "metric_name": name,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {
            "score": figure.value,
            "uncertainty": uncertainty,
            "details": {
                **{f"{one}_records": str(getattr(metrics, f"{one}_records")) for one in counts},
                **uncorrected(metrics),
            },
        },
        "generation_config": {"generation_args": _sampling(manifest)},
    }


def _sampling(manifest: Manifest) -> dict[str, Any]:
    setup = manifest.setup
    found = {"temperature": setup.temperature, "top_p": setup.top_p}
    if setup.max_new_tokens:
        found["max_tokens"] = int(setup.max_new_tokens)
    return {name: value for name, value in found.items() if value is not None}


def _has_score(row: Prediction) -> bool:
    return row.score is not None and row.passed is not None


def _samples(folder: Path, manifest: Manifest) -> Iterator[str]:
    head: dict[str, Any] = {
        "schema_version": _SCHEMA_VERSION,
        "evaluation_id": _evaluation_id(manifest),
        "model_id": _model(manifest),
        "evaluation_name": manifest.setup.dataset_id,
        "evaluation_result_id": f"{manifest.run_id}/score",
    }
    for row in read_predictions(folder):
        if _has_score(row):
            yield json.dumps({**head, **_sample(row)}, ensure_ascii=False) + "\n"


def _sample(row: Prediction) -> dict[str, Any]:
    messages = chat_messages(row)
    calls = sum(len(one.calls) for one in messages)
    said = sum(one.role == "assistant" for one in messages)
    is_single = not calls and said <= 1
    kind = "single_turn" if is_single else "agentic" if calls else "multi_turn"
    answer = row.model_response or ""
    references = [text for _, text in expected_lines(row.expected)] if row.expected else []
    return {
        "sample_id": row.record_id or f"index-{row.index}",
        "sample_hash": row.record_sha256,
        "interaction_type": kind,
        "input": {"raw": request_text(row) or "", "reference": references},
        "output": {"raw": [answer]} if is_single else None,
        "messages": None if is_single else [*_transcript(row)],
        "answer_attribution": [
            {
                "turn_idx": 0 if is_single else len(messages) - 1,
                "source": "output.raw" if is_single else f"messages[{len(messages) - 1}].content",
                "extracted_value": answer,
                "extraction_method": ", ".join(one.kind for one in row.evaluator_scores) or "none",
                "is_terminal": True,
            }
        ],
        "evaluation": {
            "score": row.score,
            "is_correct": bool(row.passed),
            "num_turns": max(1, said),
            "tool_calls_count": calls,
        },
        "token_usage": _usage(row),
        "performance": {"latency_ms": row.latency_ms} if row.latency_ms is not None else None,
        "metadata": {"repeat": str(row.repeat), "target": row.target or _UNKNOWN},
    }


def _transcript(row: Prediction) -> Iterator[dict[str, Any]]:
    for number, message in enumerate(chat_messages(row)):
        calls = [
            {"id": one.id, "name": one.name, "arguments": text_arguments(one)}
            for one in message.calls
        ]
        said = {"turn_idx": number, "role": message.role, "content": message.content}
        yield {**said, "tool_calls": calls or None}


def _usage(row: Prediction) -> dict[str, Any] | None:
    counts = {
        name: getattr(row, name) for name in ("input_tokens", "output_tokens", "total_tokens")
    }
    return None if None in counts.values() else counts


def _version(manifest: Manifest) -> str:
    return manifest.harness.version if manifest.harness else _UNKNOWN


def _model(manifest: Manifest) -> str:
    return manifest.setup.model or ", ".join(manifest.setup.targets) or _UNKNOWN


def _developer(manifest: Manifest) -> str:
    developer, slash, _ = _model(manifest).partition("/")
    return developer if slash else _UNKNOWN


def _evaluation_id(manifest: Manifest) -> str:
    return f"{manifest.setup.dataset_id}/{_model(manifest)}/{_epoch(manifest)}"


def _epoch(manifest: Manifest) -> float:
    return datetime.fromisoformat(manifest.created_at).timestamp()


def _place(manifest: Manifest) -> str:
    """Where the datastore wants a run, by a UUID that the run always has."""
    name = UUID(bytes=hashlib.sha256(manifest.run_id.encode()).digest()[:16], version=4)
    parts = (manifest.setup.dataset_id, _developer(manifest), _model(manifest).rpartition("/")[2])
    return "/".join(("data", *map(_safe, parts), str(name)))


def _safe(name: str) -> str:
    return _UNSAFE.sub("-", name).strip(".-") or _UNKNOWN
