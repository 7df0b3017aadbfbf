"""Sealed runs as far as a comparison reads them, written down in a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fakes.manifests import manifest_row
from fakes.metrics import write_metrics

RUBRIC = "rubric/desk@1.2.0"


def prediction(index: int, passed: bool | None, **other: Any) -> dict[str, Any]:
    status = "evaluation_error" if passed is None else "evaluated"
    score = None if passed is None else float(passed)
    made = {
        "index": index,
        "record_id": f"r{index}",
        "record_sha256": f"hash-{index}",
        "status": status,
        "score": score,
        "passed": passed,
        "reason": f"because of {index}",
        "model_response": "unread",
    }
    return {**made, **other}


def run(folder: Path, rows: Sequence[dict[str, Any]], **manifest: Any) -> Path:
    """A sealed run's folder, as far as a comparison reads it."""
    folder.mkdir()
    known: dict[str, Any] = {
        "run_id": folder.name,
        "dataset_id": "desk",
        "targets": {folder.name: {}},
    }
    said = manifest_row(**{**known, "rubrics": [{"rubric": RUBRIC}], **manifest})
    (folder / "run_manifest.json").write_text(json.dumps(said))
    write_metrics(folder)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "predictions.jsonl").write_text(lines)
    return folder


def passes(text: str, **other: Any) -> list[dict[str, Any]]:
    """A row a letter: y passes, n fails, ? has no score."""
    known = {"y": True, "n": False, "?": None}
    return [prediction(place, known[letter], **other) for place, letter in enumerate(text)]
