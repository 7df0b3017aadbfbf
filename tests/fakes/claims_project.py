"""A project whose recorded responses pass or fail as a test wants, for claims about numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fakes.desk_project import jsonl

RUBRIC = """\
id: says
version: 1.0.0
checks:
  - {{id: says_yes, kind: must_contain_any, phrases: [{phrase}]}}
scoring: {{combine: weighted_avg, pass_threshold: {threshold}}}
"""
WORDS = {"y": "yes", "n": "no"}


def write_cases(
    root: Path, count: int, *, turns: int = 1, name: str = "cases", **more: Any
) -> Path:
    """Cases; every `turns` of them are one conversation."""
    rows = [
        {
            "id": f"q{place}",
            "expected_outcome": "Says yes.",
            "input_messages": [{"role": "user", "content": f"Question {place}?"}],
            "evaluators": [{"name": "says", "type": "contains", "value": "yes"}],
            **({"conversation_id": f"c{place // turns}"} if turns > 1 else {}),
            **more,
        }
        for place in range(count)
    ]
    jsonl(root / "datasets" / f"{name}.jsonl", rows)
    return root


def write_responses(root: Path, candidates: Mapping[str, Sequence[str]]) -> Path:
    """A candidate's answers, a letter a record: y passes, n fails, ? times out.

    Several letters of a record, such as `yyn`, are its repeats.
    """
    rows: list[dict[str, Any]] = []
    for candidate, said in candidates.items():
        for place, letters in enumerate(said):
            for repeat, letter in enumerate(letters):
                row: dict[str, Any] = {
                    "record_id": f"q{place}",
                    "candidate_name": candidate,
                    **({"repeat": repeat} if len(letters) > 1 else {}),
                }
                if letter == "?":
                    row["error_code"] = "timeout"
                else:
                    row["response_text"] = WORDS[letter]
                rows.append(row)
    jsonl(root / "responses.jsonl", rows)
    return root


def write_rubric(root: Path, phrase: str = '"yes"', threshold: float = 0.7) -> None:
    """A rubric under one version, whatever it says."""
    path = root / "rubrics" / "says.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(RUBRIC.format(phrase=phrase, threshold=threshold), encoding="utf-8")


def write_settings(root: Path, text: str = "retry: {max_attempts: 1}\n") -> None:
    """The project file."""
    (root / "steelyard.yaml").write_text(text, encoding="utf-8")


def run_id(stdout: str) -> str:
    """The id that a run printed as JSON."""
    return json.loads(stdout)["run_id"]
