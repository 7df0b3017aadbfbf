"""A log that Inspect AI reads: `inspect view` shows it, `read_eval_log` loads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steelyard.model.statistics.interval import Interval
from steelyard.reports.asked_text import expected_lines
from steelyard.results.manifest import Manifest
from steelyard.results.metrics import Metrics
from steelyard.results.predictions import Prediction
from steelyard.usecases.results.exports.messages import (
    ChatMessage,
    asked_messages,
    chat_messages,
)
from steelyard.usecases.results.exports.uncorrected import uncorrected
from steelyard.usecases.results.read_run import read_predictions, read_run

_VERSION = 2
_STATUSES = {"failed": "error", "cancelled": "cancelled"}
_ROLES = ("system", "user", "assistant", "tool")


def export_inspect(folder: Path) -> Iterator[str]:
    """The log as JSON, a sample at a time."""
    view = read_run(folder)
    head = json.dumps(_head(view.manifest, view.metrics), ensure_ascii=False)
    yield head.removesuffix("}") + ', "samples": ['
    model = _model(view.manifest)
    for number, row in enumerate(read_predictions(folder)):
        yield ("," if number else "") + "\n" + json.dumps(_sample(row, model), ensure_ascii=False)
    yield "\n]}\n"


def _head(manifest: Manifest, metrics: Metrics) -> dict[str, Any]:
    setup = manifest.setup
    settings = {
        "temperature": setup.temperature,
        "top_p": setup.top_p,
        "max_tokens": setup.max_new_tokens,
        "seed": setup.seed,
    }
    return {
        "version": _VERSION,
        "status": _STATUSES.get(manifest.status, "success"),
        "eval": {
            "run_id": manifest.run_id,
            "eval_id": manifest.run_id,
            "task_id": manifest.run_id,
            "created": manifest.created_at,
            "task": setup.dataset_id,
            "task_version": setup.dataset_version or 0,
            "dataset": {"name": setup.dataset_id, "samples": metrics.total_records},
            "model": _model(manifest),
            "model_generate_config": {k: v for k, v in settings.items() if v is not None},
            "config": {"epochs": setup.options.repeat},
            "metadata": uncorrected(metrics),
            "packages": {"steelyard": manifest.harness.version} if manifest.harness else {},
        },
        "results": {
            "total_samples": metrics.rows,
            "completed_samples": metrics.rows - metrics.failure_rows,
            "scores": list(_scores(metrics)),
        },
        "stats": {
            "started_at": manifest.started_at or manifest.created_at,
            "completed_at": manifest.completed_at or "",
        },
    }


def _scores(metrics: Metrics) -> Iterator[dict[str, Any]]:
    yield _score("verdict", metrics.pass_rate, metrics.total_records)
    for name, check in metrics.checks.items():
        yield _score(name, check.pass_rate, metrics.total_records)


def _score(name: str, rate: Interval, total: int) -> dict[str, Any]:
    figures = {"pass_rate": rate.value, "low": rate.low, "high": rate.high}
    metrics = {
        key: {"name": key, "value": value} for key, value in figures.items() if value is not None
    }
    scored = {"scored_samples": rate.n, "unscored_samples": max(0, total - rate.n)}
    return {"name": name, "scorer": name, **scored, "metrics": metrics}


def _sample(row: Prediction, model: str) -> dict[str, Any]:
    asked = asked_messages(row)
    is_plain = len(asked) == 1 and asked[0].role == "user"
    given: Any = asked[0].content if is_plain else list(_messages(asked))
    target = [text for _, text in expected_lines(row.expected)] if row.expected else []
    sample: dict[str, Any] = {
        "id": row.record_id or row.index,
        "epoch": row.repeat + 1,
        "input": given,
        "target": target[0] if len(target) == 1 else target,
        "messages": list(_messages(chat_messages(row))),
        "output": _output(row, model),
        "scores": dict(_sample_scores(row)),
        "metadata": {"index": row.index, "status": row.status, "target": row.target},
    }
    if row.latency_ms is not None:
        sample["total_time"] = row.latency_ms / 1000
    if row.status != "evaluated":
        error = {"message": f"{row.status}: {row.reason or 'no reason'}"}
        sample["error"] = {**error, "traceback": "", "traceback_ansi": ""}
    return sample


def _output(row: Prediction, model: str) -> dict[str, Any]:
    output: dict[str, Any] = {"model": model, "choices": []}
    if row.model_response is not None:
        message = {"role": "assistant", "content": row.model_response}
        output["choices"] = [{"message": message, "stop_reason": "stop"}]
    if row.total_tokens is not None:
        output["usage"] = {
            "input_tokens": row.input_tokens or 0,
            "output_tokens": row.output_tokens or 0,
            "total_tokens": row.total_tokens,
        }
    return output


def _sample_scores(row: Prediction) -> Iterator[tuple[str, dict[str, Any]]]:
    """What has a score: a check without one has no entry, which Inspect counts as unscored."""
    if row.passed is not None:
        value = "C" if row.passed else "I"
        details: dict[str, Any] = {"score": row.score}
        yield "verdict", {"value": value, "explanation": row.reason, "metadata": details}
    for one in row.evaluator_scores:
        if one.score is not None:
            metadata: dict[str, Any] = {"passed": one.passed, "kind": one.kind}
            score: dict[str, Any] = {"value": one.score, "explanation": one.reason}
            yield one.check, {**score, "metadata": metadata}


def _messages(messages: list[ChatMessage]) -> Iterator[dict[str, Any]]:
    for message in messages:
        role = message.role if message.role in _ROLES else "user"
        said: dict[str, Any] = {"role": role, "content": message.content}
        if message.calls:
            said["tool_calls"] = [
                {"id": one.id, "function": one.name, "arguments": one.arguments}
                for one in message.calls
            ]
        yield said
        for one in message.calls:
            if one.output is not None:
                result: dict[str, Any] = {"role": "tool", "content": one.output}
                yield {**result, "tool_call_id": one.id, "function": one.name}


def _model(manifest: Manifest) -> str:
    return manifest.setup.model or ", ".join(manifest.setup.targets) or "none"
