"""`steelyard run` on the evals.json of agent skills, as public repositories write them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
JUDGE = """
import json, sys
asked = json.load(sys.stdin)["prompt"]
value = not any(word in asked for word in ("The answer is long",))
told = {"evidence": "", "reasoning": "so it is", "value": value}
print(json.dumps({"answers": {"satisfied": told, "score": {**told, "value": int(value)}}}))
"""
STATED: dict[str, Any] = {"id": 1, "prompt": "Say yes", "expected_output": "A yes", "files": []}
EVALS: list[dict[str, Any]] = [
    {**STATED, "expectations": ["The answer says yes", "The answer is short"]},
    {**STATED, "id": 2, "assertions": [{"id": "a", "text": "The answer is long", "type": "x"}]},
    {**STATED, "id": 3, "files": ["evals/files/notes.txt"], "assertions": ["Uses the notes"]},
    {**STATED, "id": 4},
]


def write_project(folder: Path, evals: list[Any], *, with_judge: bool) -> None:
    (folder / "evals" / "files").mkdir(parents=True)
    (folder / "evals" / "files" / "notes.txt").write_text("Some notes.", encoding="utf-8")
    content = json.dumps({"skill_name": "says-yes", "evals": evals})
    (folder / "evals" / "evals.json").write_text(content, encoding="utf-8")
    (folder / "judge.py").write_text(JUDGE, encoding="utf-8")
    judge = f"judge: {{provider: command, command: [{sys.executable}, judge.py]}}"
    settings = f"targets: {{echo: {{provider: echo}}, {judge}}}\n"
    judged = "judges: {default: {target: judge}}\n" if with_judge else ""
    (folder / "steelyard.yaml").write_text(settings + judged, encoding="utf-8")


def run(steelyard: Steelyard, folder: Path) -> tuple[int, dict[str, Any], str]:
    words = ("run", "evals/evals.json", "--target", "echo", "--format", "json")
    done = steelyard(*words, cwd=folder)
    found: dict[str, Any] = {}
    for path in folder.glob(".steelyard/runs/*/predictions.jsonl"):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        found = {row["record_id"]: row for row in rows}
    return done.returncode, found, done.stderr


def test_statements_are_judged_and_files_are_shown(steelyard: Steelyard, tmp_path: Path) -> None:
    write_project(tmp_path, EVALS, with_judge=True)
    code, found, said = run(steelyard, tmp_path)

    assert code == 0, said
    assert {name: row["score"] for name, row in found.items()} == {
        "1": 1.0,
        "2": 0.0,
        "3": 1.0,
        "4": 1.0,
    }
    assert "Some notes." in json.dumps(found["3"])


CHECKED: list[dict[str, Any]] = [
    {**STATED, "id": 1, "assertions": [{"name": "shape", "check": "The answer is long"}]},
    {**STATED, "id": 2, "assertions": [{"type": "contains", "value": "yes"}]},
    {**STATED, "id": 3, "assertions": [{"type": "not-contains", "value": "yes"}]},
    {
        **STATED,
        "id": 4,
        "assertions": [{"type": "regex", "pattern": "^No", "description": "The answer is kind"}],
    },
    {**STATED, "id": 5, "assertions": [{"type": "icontains-any", "values": ["no", "YES"]}]},
]


def test_assertions_with_a_type_are_checked_and_not_judged(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    """EJ-25"""
    write_project(tmp_path, CHECKED, with_judge=True)
    code, found, said = run(steelyard, tmp_path)

    assert code == 0, said
    assert {name: row["score"] for name, row in found.items()} == {
        "1": 0.0,
        "2": 1.0,
        "3": 0.0,
        "4": 0.0,
        "5": 1.0,
    }
    assert "The answer is kind" not in json.dumps(found["4"]["evaluator_scores"])


def test_demands_under_names_that_nothing_reads_are_reported(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    """EJ-26"""
    asked = {**STATED, "must_have": ["module"], "must_not_have": ["initial"]}
    write_project(tmp_path, [asked], with_judge=True)
    soft = steelyard("validate", "evals/evals.json", cwd=tmp_path)
    strict = steelyard("validate", "--strict", "evals/evals.json", cwd=tmp_path)

    assert (soft.returncode, strict.returncode) == (0, 1)
    assert "unknown field 'must_have': nothing looks for what it demands" in strict.stdout
    assert "must_not_have" in soft.stdout


def test_without_a_judge_statements_are_counted_as_not_judged(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    checked = {**EVALS[0], "id": 9, "must_contain_any": ["yes"]}
    write_project(tmp_path, [checked, EVALS[1]], with_judge=False)
    _, found, _ = run(steelyard, tmp_path)

    assert found["9"]["score"] == 1.0
    assert "not judged" in json.dumps(found["9"]["evaluator_scores"])
    assert found["2"]["status"] == "skipped"


@pytest.mark.parametrize("evals", [EVALS[:1], EVALS[1:2], EVALS[3:]])
def test_a_file_of_nothing_else_is_refused_with_the_setting(
    steelyard: Steelyard, tmp_path: Path, evals: list[Any]
) -> None:
    write_project(tmp_path, evals, with_judge=False)
    code, _, said = run(steelyard, tmp_path)

    assert code == 2
    assert "judges.default.target" in said
