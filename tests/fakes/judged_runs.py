"""Folders of finished runs in which judges decided, as far as corrections read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fakes.validations import JUDGE, RULE


def a_score(passed: bool | None, **more: Any) -> dict[str, Any]:
    """What the judge decided; None where it has no score."""
    details = {"rule": RULE, "calls": [{"fingerprint": "mark"}]}
    return {
        "check": "right",
        "kind": "llm_judge",
        "status": "unscored" if passed is None else "scored",
        "passed": passed,
        "judge": JUDGE,
        "details": details,
        **more,
    }


def a_row(index: int, passed: bool | None, **more: Any) -> dict[str, Any]:
    """A prediction that the judge alone decides."""
    return {
        "index": index,
        "record_id": f"q{index}",
        "record_sha256": f"{index:064x}",
        "repeat": 0,
        "status": "evaluation_error" if passed is None else "evaluated",
        "passed": passed,
        "score": None if passed is None else float(passed),
        "evaluator_scores": [a_score(passed)],
        "trace": {"messages": [{"role": "assistant", "content": f"Answer {index}."}]},
        **more,
    }


def write_run(folder: Path, rows: Iterable[dict[str, Any]], **manifest: Any) -> Path:
    """A run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = list(rows)
    scored = [row for row in listed if row["passed"] is not None]
    known: dict[str, Any] = {
        "run_id": folder.name,
        "dataset_id": "d",
        "targets": {"desk": {}},
        "judges": [{"judge": JUDGE}],
        "rubrics": [],
        "options": {},
        **manifest,
    }
    passes = sum(bool(row["passed"]) for row in scored)
    metrics = {"pass_rate": {"value": passes / len(scored) if scored else None}}
    files: dict[str, Any] = {
        "run_manifest.json": known,
        "metrics_summary.json": metrics,
        "metrics_by_slice.json": {"slices": []},
    }
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    text = "".join(json.dumps(row) + "\n" for row in listed)
    (folder / "predictions.jsonl").write_text(text, encoding="utf-8")
    return folder
