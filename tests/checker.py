"""The one judge of every trial: is a finished run what the engine promises?"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from steelyard.results.artifacts import ARTIFACTS
from steelyard.store.artifacts import digest_of
from steelyard.usecases.results.verify import verify

Place = tuple[int, int]
"""Index and repeat."""
JudgedPlace = tuple[int, int, str]
"""The same with the key of a call to a judge."""
NEXT = {
    "queued": {"validating", "failed", "cancelled"},
    "validating": {"running", "failed", "cancelled"},
    "running": {"retrying", "finalizing", "failed", "cancelled"},
    "retrying": {"running", "finalizing", "failed", "cancelled"},
    "finalizing": {"completed", "completed_with_failures", "failed", "cancelled"},
    "completed": set[str](),
    "completed_with_failures": set[str](),
    "cancelled": set[str](),
}
FAILED = ("invalid_record", "timeout", "evaluation_error", "cancelled")
TIMED = {"first_attempt_at", "last_attempt_at", "latency_ms"}
COUNTED = {
    "latency_ms",
    "attempts",
    "retried_records",
    "interrupted_calls",
    "outage_calls",
    "adapted_calls",
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What happened to a run on its way."""

    acknowledged: Mapping[Place, bytes] = field(default_factory=dict[Place, bytes])
    """The predictions that were committed when the run was stopped."""
    calls: int | None = None
    """How many calls the target counted, where it did."""
    judge_calls: int | None = None
    """The same for the target that judges."""
    judgements: Mapping[JudgedPlace, bytes] = field(default_factory=dict[JudgedPlace, bytes])
    """The judgements that were committed when the run was stopped."""
    kills: int = 0
    concurrency: int = 0
    uninterrupted: Path | None = None
    """The folder of a run over the same dataset that nobody stopped."""


def check_run(folder: Path, trial: Trial | None = None) -> None:
    """Assert everything that must be true of a finished run."""
    trial = trial or Trial()
    predictions = _rows(folder, "predictions.jsonl")
    attempts = _rows(folder, "attempt_logs.jsonl")
    _check_folder(folder)
    _check_states(folder)
    _check_stored(folder, predictions, trial.acknowledged)
    _check_denominators(folder, predictions)
    asked = [row for row in attempts if row["call"] == "target"]
    judged = [row for row in attempts if row["call"] != "target"]
    _check_attempts(predictions, _ended(asked))
    _check_judged(folder, predictions, _ended(judged), trial.judgements)
    _check_interrupted(folder, attempts)
    for calls, logged in ((trial.calls, asked), (trial.judge_calls, judged)):
        if calls is not None:
            assert 0 <= len(logged) - calls <= trial.kills * 2 * trial.concurrency
            assert len(logged) - len(_ended(logged)) <= trial.kills * 2 * trial.concurrency
    if trial.uninterrupted is not None:
        assert comparable(folder) == comparable(trial.uninterrupted)


def stored_predictions(folder: Path) -> dict[Place, bytes]:
    """What the database holds of a run; the database is the truth."""
    query = "SELECT idx, repeat, prediction FROM results WHERE run_id = ?"
    found = asked(folder.parents[1], query, folder.name)
    return {(index, repeat): prediction for index, repeat, prediction in found}


def wait_until_stored(root: Path, count: int) -> None:
    """Wait until the newest run of a project has stored so many results."""
    deadline = time.monotonic() + 120
    while True:
        with suppress(sqlite3.OperationalError):
            newest = "SELECT max(run_id) FROM runs"
            query = f"SELECT count(*) FROM results WHERE run_id = ({newest})"
            if asked(root / ".steelyard", query)[0][0] >= count:
                return
        assert time.monotonic() < deadline, f"fewer than {count} results are stored"
        time.sleep(0.02)


def asked(data: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """The rows of a query, asked around the product: of its file, or of the server."""
    if address := os.environ.get("STEELYARD_STORE"):
        import psycopg  # noqa: PLC0415 - only where it is installed

        with psycopg.connect(address, autocommit=True) as server:
            return server.execute(query.replace("?", "%s").encode(), values).fetchall()
    with closing(sqlite3.connect(data / "steelyard.db")) as connection:
        return connection.execute(query, values).fetchall()


def comparable(folder: Path) -> dict[str, Any]:
    """A run without what differs from one time to the next: ids, times and numbers of calls."""
    predictions = _rows(folder, "predictions.jsonl")
    for row in predictions:
        row["trace"] = _without(row["trace"] or {}, TIMED)
    slices = _object(folder, "metrics_by_slice.json")["slices"]
    manifest = _object(folder, "run_manifest.json")
    return {
        "predictions": [_seedless(_without(row, TIMED)) for row in predictions],
        "validation": _rows(folder, "record_validation.jsonl"),
        "failures": [_without(row, COUNTED) for row in _rows(folder, "failures.jsonl")],
        "metrics": _without(_object(folder, "metrics_summary.json"), COUNTED),
        "slices": [_without(row, COUNTED) for row in slices],
        "input": _object(folder, "input_dataset.json"),
        "status": manifest["status"],
        "redaction": manifest["redaction"],
    }


def _seedless(value: Any) -> Any:
    """Without the orders in which judges were shown options, which a run draws for itself."""
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        return {name: _seedless(one) for name, one in named.items() if name != "seed"}
    if isinstance(value, list):
        return [_seedless(one) for one in cast("list[Any]", value)]
    return value


def _check_folder(folder: Path) -> None:
    """Eight files that nobody can change by accident, with the hashes of the manifest."""
    assert {path.name for path in folder.iterdir()} == set(ARTIFACTS)
    assert all(path.stat().st_mode & 0o222 == 0 for path in folder.iterdir())
    assert verify(folder, digest_of).is_intact


def _check_states(folder: Path) -> None:
    """The states are those of contract 2's diagram, in the database as in the manifest."""
    manifest = _object(folder, "run_manifest.json")
    states = [(entry["state"], entry["at"]) for entry in manifest["states"]]
    names = [state for state, _ in states]
    query = "SELECT state, at FROM run_states WHERE run_id = ? ORDER BY step"
    kept = asked(folder.parents[1], query, folder.name)

    assert names[0] == "queued"
    assert all(new in NEXT[old] for old, new in pairwise(names))
    assert NEXT[names[-1]] == set()
    assert names[-1] == manifest["status"]
    assert states == kept


def _check_stored(
    folder: Path, predictions: list[dict[str, Any]], acknowledged: Mapping[Place, bytes]
) -> None:
    """What was acknowledged is there, unchanged; every place is filled exactly once."""
    stored = stored_predictions(folder)
    places = [(row["index"], row["repeat"]) for row in predictions]

    assert acknowledged.items() <= stored.items()
    assert places == sorted(stored)
    for row in predictions:
        kept = json.loads(stored[row["index"], row["repeat"]])
        assert {**row, "evaluator_scores": []} == kept


def _check_denominators(folder: Path, predictions: list[dict[str, Any]]) -> None:
    metrics = _object(folder, "metrics_summary.json")
    indexes = {row["index"] for row in predictions}
    names = ("evaluated_records", "failed_records", "skipped_records")
    unread = metrics.get("unread_records", 0)

    assert ("unread_records" in metrics) == bool(_object(folder, "run_manifest.json")["unread"])
    assert metrics["total_records"] == sum(metrics[name] for name in names)
    assert metrics["total_records"] == len(indexes) + unread == _selected(folder)
    bounds, total = metrics["pass_rate_bounds"], metrics["total_records"]
    if total and total == metrics["rows"] + unread:
        passes, unscored = metrics["pass_count"], total - metrics["evaluated_records"]
        assert bounds == {"low": passes / total, "high": (passes + unscored) / total}
    assert metrics["missing"]["missing"] == (
        metrics["valid_records"] - metrics["evaluated_records"]
    )
    assert metrics["valid_records"] == metrics["total_records"] - metrics["invalid_records"]
    assert metrics["pass_count"] + metrics["fail_count"] == metrics["evaluated_records"]
    assert metrics["rows"] == len(predictions)
    failures = [(row["index"], row["repeat"]) for row in _rows(folder, "failures.jsonl")]
    assert failures == [
        (row["index"], row["repeat"]) for row in predictions if row["status"] in FAILED
    ]
    assert metrics["failure_rows"] == len(failures)
    assert not failures or _object(folder, "run_manifest.json")["status"] != "completed"
    assert all(row["label"] and row["message"] for row in _rows(folder, "failures.jsonl"))
    validated = [row["index"] for row in _rows(folder, "record_validation.jsonl")]
    assert validated == sorted(indexes)


def _selected(folder: Path) -> int:
    """How many records a run was accepted with."""
    ((plan,),) = asked(folder.parents[1], "SELECT plan FROM runs WHERE run_id = ?", folder.name)
    return int(json.loads(plan)["selected"])


def _ended(attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The attempts that were not cut off by a stop or a crash, nor made in an outage."""
    return [
        row for row in attempts if row["error_code"] not in {"interrupted", "outage", "adapted"}
    ]


def _check_interrupted(folder: Path, attempts: list[dict[str, Any]]) -> None:
    """Calls that were cut off are counted apart, and nobody knows how long they took."""
    cut_off = [row for row in attempts if row["error_code"] == "interrupted"]

    assert all(row["latency_ms"] is None for row in cut_off)
    away = sum(row["error_code"] == "outage" for row in attempts)
    metrics = _object(folder, "metrics_summary.json")
    assert (metrics["interrupted_calls"], metrics["outage_calls"]) == (len(cut_off), away)


def _check_attempts(predictions: list[dict[str, Any]], attempts: list[dict[str, Any]]) -> None:
    """Every try of a record is logged once, numbered from 1; only the last may have succeeded."""
    made: dict[Place, list[dict[str, Any]]] = {}
    for row in attempts:
        made.setdefault((row["index"], row["repeat"]), []).append(row)
    for row in predictions:
        tried = made.pop((row["index"], row["repeat"]), [])
        assert [entry["attempt"] for entry in tried] == list(range(1, len(tried) + 1))
        assert all(entry["error_code"] for entry in tried[:-1])
        if row["response_source"] == "cached":
            assert tried == []
        elif row["trace"] is not None:
            assert tried[-1]["error_code"] is None
            assert row["first_attempt_at"] == tried[0]["at"]
            assert row["last_attempt_at"] == tried[-1]["at"]
    assert made == {}


def _check_judged(
    folder: Path,
    predictions: list[dict[str, Any]],
    attempts: list[dict[str, Any]],
    acknowledged: Mapping[JudgedPlace, bytes],
) -> None:
    """Every judgement is kept once, is the last of its attempts, and is paid for in its record."""
    stored = {place: json.loads(row) for place, row in stored_judgements(folder).items()}
    made: dict[JudgedPlace, list[dict[str, Any]]] = {}
    for row in attempts:
        index = -1 if row["index"] is None else row["index"]
        made.setdefault((index, row["repeat"], row["key"]), []).append(row)

    assert acknowledged.items() <= stored_judgements(folder).items()
    for place, tried in made.items():
        assert [entry["attempt"] for entry in tried] == list(range(1, len(tried) + 1))
        assert all(entry["error_code"] for entry in tried[:-1])
        if place in stored:
            assert stored[place]["attempts"] == len(tried)
            assert (stored[place]["trace"] is None) == bool(tried[-1]["error_code"])
    assert all(row["is_cached"] for place, row in stored.items() if place not in made)
    assert waiting_answers(folder) == 0
    by_record: dict[Place, list[dict[str, Any]]] = {}
    for (index, repeat, _), one in stored.items():
        by_record.setdefault((index, repeat), []).append(one)
    for row in predictions:
        of_record = by_record.get((row["index"], row["repeat"]), [])
        judging = row["judging"] or {"calls": 0, "attempts": 0}
        assert judging["calls"] == sum(not one["is_cached"] for one in of_record)
        assert judging["attempts"] == sum(one["attempts"] for one in of_record)


def stored_judgements(folder: Path) -> dict[JudgedPlace, bytes]:
    """What judges have said, as the database holds it."""
    query = "SELECT idx, repeat, call, row FROM judgements WHERE run_id = ?"
    found = asked(folder.parents[1], query, folder.name)
    return {(index, repeat, call): row for index, repeat, call, row in found}


def waiting_answers(folder: Path) -> int:
    """How many answers wait for a judge."""
    query = "SELECT count(*) FROM answered WHERE run_id = ?"
    return int(asked(folder.parents[1], query, folder.name)[0][0])


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_bytes().splitlines()]


def _object(folder: Path, name: str) -> dict[str, Any]:
    return json.loads((folder / name).read_bytes())


def _without(row: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}
