"""The project of the trials on Ray, and what its runs have in common."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from steelyard.results.artifacts import ARTIFACTS

COUNT = 300
PASSED = COUNT - len(range(0, COUNT, 7))
AGENT = """\
import os, time
from questions import ANSWER

def answer(prompt):
    with open(os.environ["TRIAL_CALLS"], "a") as stream:
        stream.write(f"{os.getpid()} {prompt}\\n")
    while is_held():
        time.sleep(0.02)
    return ANSWER

def is_held():
    try:
        with open(os.environ["TRIAL_HOLD"]) as free, open(os.environ["TRIAL_CALLS"]) as made:
            return len(made.readlines()) > int(free.read())
    except FileNotFoundError:
        return False
"""
_TIMES = (
    (r'"\d{4}-\d\d-\d\dT[^"]*"', '"T"'),
    (r'"(run|group)_[0-9A-Z]{26}"', '"RUN"'),
    (r'"[a-z_]*(latency|duration|elapsed|seconds)[a-z_]*": ?[\d.e-]+', '"TIME"'),
    (r'"(p50|p95)": ?[\d.e-]+', '"TIME"'),
    (r'"(sha256|size|manifest_sha256)": ?("[0-9a-f]{64}"|\d+)', '"FILE"'),
    (r'"workers": \d+', '"ASKED"'),
)


def write_project(root: Path) -> None:
    """Questions to a program that imports another file of the project."""
    rows = (
        {
            "id": f"c{number}",
            "expected_outcome": "Yes.",
            "input": f"question {number}",
            "evaluators": [{"type": "equals", "value": "yes" if number % 7 else "no"}],
            "tags": [f"t{number % 3}"],
        }
        for number in range(COUNT)
    )
    (root / "agent.py").write_text(AGENT, encoding="utf-8")
    (root / "questions.py").write_text('ANSWER = "yes"\n', encoding="utf-8")
    agent = '{provider: python, callable: "agent:answer", max_concurrency: 16}'
    (root / "steelyard.yaml").write_text(f"targets: {{agent: {agent}}}\n", encoding="utf-8")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (root / "d.jsonl").write_text(lines, encoding="utf-8")


def sealed_equally(folders: Sequence[Path]) -> dict[str, list[str]]:
    """Where artifacts differ in more than times and names of runs: the first lines that do."""
    found: dict[str, list[str]] = {}
    for name in ARTIFACTS:
        texts = [_timeless((folder / name).read_text(encoding="utf-8")) for folder in folders]
        for other in texts[1:]:
            differing = [
                f"{mine[:300]} != {theirs[:300]}"
                for mine, theirs in zip(texts[0].splitlines(), other.splitlines(), strict=False)
                if mine != theirs
            ]
            if texts[0] != other:
                found.setdefault(name, []).extend(differing[:3] or ["other lengths"])
    return found


def _timeless(text: str) -> str:
    for pattern, instead in _TIMES:
        text = re.sub(pattern, instead, text)
    return text
