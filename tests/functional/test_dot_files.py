"""A dataset shows no dot file, such as the one with the keys, to a target."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
SECRET = "swordfish"
CASE = {
    "id": "a",
    "expected_outcome": "Goal",
    "input_messages": [{"role": "user", "content": [{"type": "file", "value": ".env"}]}],
}
LEGAL = {
    "schema_version": "legal_eval_v1",
    "id": "a",
    "dataset": "tenancy",
    "task_type": "reference_qa",
    "prompt": "When?",
    "reference_answers": ["Now."],
    "attachments": [{"path": ".env", "kind": "text"}],
}
SKILL = {"skill_name": "s", "evals": [{"id": 1, "prompt": "?", "files": [".env"], "checks": []}]}
DATASETS = {"cases.jsonl": CASE, "legal.jsonl": LEGAL, "evals.json": SKILL}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".env").write_text(SECRET, encoding="utf-8")
    (tmp_path / "steelyard.yaml").write_text("", encoding="utf-8")
    for name, content in DATASETS.items():
        (tmp_path / name).write_text(json.dumps(content) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", DATASETS)
def test_a_dot_file_is_an_error_that_names_the_setting(
    project: Path, steelyard: Command, name: str
) -> None:
    refused = steelyard("validate", name, "--format", "json", cwd=project)
    (project / "steelyard.yaml").write_text("allow: {dot_files: true}\n", encoding="utf-8")
    allowed = steelyard("validate", name, "--format", "json", cwd=project)

    assert refused.returncode == 1
    assert '"hidden_file"' in refused.stdout
    assert "set 'allow.dot_files' to true in steelyard.yaml" in refused.stdout
    assert SECRET not in refused.stdout
    assert '"hidden_file"' not in allowed.stdout


def test_a_target_never_sees_a_dot_file(project: Path, steelyard: Command) -> None:
    steelyard("run", "cases.jsonl", "--target", "echo", cwd=project)
    kept = [path for path in (project / ".steelyard").rglob("*") if path.is_file()]

    assert not [path for path in kept if SECRET.encode() in path.read_bytes()]
