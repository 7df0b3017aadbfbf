"""`steelyard run` on eval files of the later dialect: what they say is asked and graded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytestmark = pytest.mark.trials

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
ECHO = 'import json, sys; print(json.load(sys.stdin)["prompt"])'
JUDGE = """
import sys
open("asked.txt", "a").write(sys.stdin.read())
print('{"answers": {"score": {"evidence": "", "reasoning": "so it is", "value": 1}}}')
"""
RUN = ("run", "cases.yaml", "--target", "echo", "--format", "json")


def write_project(folder: Path, cases: str, settings: str = "") -> None:
    (folder / "echo.py").write_text(ECHO, encoding="utf-8")
    (folder / "cases.yaml").write_text(cases, encoding="utf-8")
    echo = f"echo: {{provider: command, command: [{sys.executable}, echo.py]}}"
    text = settings if "TARGET" in settings else f"targets: {{TARGET}}\n{settings}"
    (folder / "steelyard.yaml").write_text(text.replace("TARGET", echo), encoding="utf-8")


def predictions(folder: Path) -> list[Any]:
    (path,) = folder.glob(".steelyard/runs/*/predictions.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_assertions_of_the_file_are_graded_too(steelyard: Steelyard, tmp_path: Path) -> None:
    cases = """
assertions: [{type: contains, value: never said}]
tests:
  - id: own
    input: Say yes
    criteria: Says yes
    assertions: [{type: contains, value: yes}]
"""
    write_project(tmp_path, cases)
    done = steelyard(*RUN, cwd=tmp_path)

    assert json.loads(done.stdout)["metrics"]["pass_rate"]["value"] == 0.0, done.stderr
    (row,) = predictions(tmp_path)
    assert [score["passed"] for score in row["evaluator_scores"]] == [True, False]


def test_a_variable_reaches_the_target_only_where_the_project_lists_it(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    cases = """
tests:
  - {id: listed, input: "In ${{ PLACE }}", assertions: [{type: contains, value: Basel}]}
  - {id: other, input: "In ${{ HIDDEN }}", assertions: [{type: contains, value: In}]}
"""
    write_project(tmp_path, cases, "allow: {env: [PLACE]}")
    variables = {"PLACE": "Basel", "HIDDEN": "hush-canary-815"}
    done = steelyard(*RUN, cwd=tmp_path, env=variables)
    found = {row["record_id"]: row for row in predictions(tmp_path)}

    assert found["listed"]["score"] == 1.0, done.stderr
    assert found["other"]["status"] == "invalid_record"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"hush-canary-815" in path.read_bytes() for path in files)


def test_values_shared_input_and_named_files_reach_the_target(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    cases = """
input: Answer in {{ language }}.
vars: {language: German}
assertions: [{type: contains, value: Answer in German.}]
execution: {workers: 4, trials: {count: 2}}
tests:
  - id: inline
    vars: {city: Basel}
    input: "Where is {{ city }}?"
    assertions: [{type: contains, value: Basel}]
  - file://more/*.jsonl
"""
    write_project(tmp_path, cases)
    (tmp_path / "more").mkdir()
    rows = '{"id": "named", "input": "Who?", "assertions": [{"type": "contains", "value": "Who"}]}'
    (tmp_path / "more" / "a.jsonl").write_text(rows, encoding="utf-8")
    done = steelyard(*RUN, cwd=tmp_path)

    assert json.loads(done.stdout)["metrics"]["pass_rate"]["value"] == 1.0, done.stderr
    assert [row["record_id"] for row in predictions(tmp_path)] == ["inline", "named"]
    validated = steelyard("validate", "cases.yaml", cwd=tmp_path)
    assert "--workers" in validated.stdout + validated.stderr
    assert "--repeat" in validated.stdout + validated.stderr


@pytest.mark.parametrize("name", ["input", "output", "criteria", "expected_output"])
def test_the_later_names_are_filled_in_prompts(
    steelyard: Steelyard, tmp_path: Path, name: str
) -> None:
    cases = f"""
tests:
  - id: a
    input: marked input
    criteria: marked criteria
    expected_output: marked expected_output
    assertions: [{{type: llm-grader, prompt: "Look at {{{{ {name} }}}} and {{{{ output }}}}"}}]
"""
    judge = f"judge: {{provider: command, command: [{sys.executable}, judge.py]}}"
    settings = f"targets: {{TARGET, {judge}}}\njudges: {{default: {{target: judge}}}}"
    write_project(tmp_path, cases, settings)
    (tmp_path / "judge.py").write_text(JUDGE, encoding="utf-8")
    done = steelyard(*RUN, cwd=tmp_path)
    asked = (tmp_path / "asked.txt").read_text(encoding="utf-8")

    assert json.loads(done.stdout)["metrics"]["pass_rate"]["value"] == 1.0, done.stderr
    marked = "marked input" if name == "output" else f"marked {name}"
    shown = asked[asked.index("Look at") :]
    assert marked in shown[: shown.index(" and ")]


KIT = """
import json, sys
told = json.load(sys.stdin)
summary = told["trace_summary"]
assert isinstance(summary["error_count"], int) and summary["tool_calls"] == {}
assert None not in summary.values()
assert isinstance(told.get("cost_usd", 0), (int, float))
assert told["criteria"] == told["expected_outcome"] and told["input"] == told["input_messages"]
print(json.dumps({"score": float("yes" in told["output"]), "assertions": []}))
"""


def test_a_program_made_with_the_kit_of_the_format_gives_its_score(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    cases = f"""
tests:
  - id: a
    input: Say yes
    criteria: Says yes
    assertions: [{{type: code-grader, command: [{sys.executable}, kit.py]}}]
"""
    write_project(tmp_path, cases, "allow: {commands: true}")
    (tmp_path / "kit.py").write_text(KIT, encoding="utf-8")
    done = steelyard(*RUN, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["pass_rate"]["value"] == 1.0


def test_a_setting_that_means_nothing_is_told_and_refused_in_strict_mode(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    cases = """
tests:
  - id: a
    input: Say yes
    assertions: [{type: regex, value: yes, ignore_case: true}]
"""
    write_project(tmp_path, cases)
    told = steelyard("validate", "cases.yaml", cwd=tmp_path)
    refused = steelyard("validate", "cases.yaml", "--strict", cwd=tmp_path)

    assert (told.returncode, refused.returncode) == (0, 1)
    assert "unknown field 'ignore_case'" in told.stdout


@pytest.mark.parametrize("wrong", ["assertions: is polite", "execution: {evaluators: 5}"])
def test_evaluators_that_are_no_list_refuse_one_case_of_a_file_with_values(
    steelyard: Steelyard, tmp_path: Path, wrong: str
) -> None:
    cases = f"""
vars: {{who: Bob}}
tests:
  - {{id: wrong, criteria: Greets, input: "Hello {{{{ who }}}}", {wrong}}}
  - {{id: right, criteria: Greets, input: "Hello {{{{ who }}}}"}}
"""
    write_project(tmp_path, cases)
    done = steelyard("validate", "cases.yaml", "--format", "json", cwd=tmp_path)

    (finding,) = json.loads(done.stdout)["files"][0]["findings"]
    assert (done.returncode, finding["record_id"]) == (1, "wrong")
    assert "must be an array" in finding["message"]


def test_a_limit_of_any_size_is_graded(steelyard: Steelyard, tmp_path: Path) -> None:
    cases = f"""
evalcases:
  - id: short
    expected_outcome: Says yes
    input_messages: [{{role: user, content: Say yes}}]
    evaluators:
      - {{name: fast, type: latency, threshold: {10**20}}}
      - {{name: few, type: token_usage, max_output: {10**20}}}
"""
    write_project(tmp_path, cases)
    done = steelyard(*RUN, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["pass_rate"]["value"] == 1.0
