"""Folders of finished runs in which judges decided, as far as corrections read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fakes.manifests import manifest_row
from fakes.metrics import write_metrics
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
    known: dict[str, Any] = {
        "run_id": folder.name,
        "dataset_id": "d",
        "targets": {"desk": {}},
        "judges": [{"judge": JUDGE}],
        "rubrics": [],
        **manifest,
    }
    text = json.dumps(manifest_row(**known))
    (folder / "run_manifest.json").write_text(text, encoding="utf-8")
    write_metrics(folder, [row["passed"] for row in listed])
    text = "".join(json.dumps(row) + "\n" for row in listed)
    (folder / "predictions.jsonl").write_text(text, encoding="utf-8")
    return folder
