"""Moving from other platforms: by documented commands from their files to a number."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
RUBRIC = """\
id: capitals
version: 1.0.0
checks:
  - {id: names_the_answer, kind: must_contain_any}
scoring: {combine: weighted_avg, pass_threshold: 1.0}
"""
QUESTIONS = {"i1": ("Capital of France?", "Paris"), "i2": ("Capital of Peru?", "Lima")}
OUTPUTS = {"eval_cases": "cases.yaml", "responses": "responses.jsonl", "labels": "labels.csv"}
SAID = {"i1": "It is Paris.", "i2": "It is Cusco."}


def _write(folder: Path, name: str, *rows: Any) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _agentv(folder: Path) -> None:
    target = {"name": "bot", "provider": "cli", "command_template": "./bot {PROMPT}"}
    _write(folder, ".agentv/targets.yaml", {"targets": [target]})
    cases = [
        {
            "id": name,
            "expected_outcome": answer,
            "input_messages": [{"role": "user", "content": question}],
            "expected_messages": [{"role": "assistant", "content": answer}],
        }
        for name, (question, answer) in QUESTIONS.items()
    ]
    _write(folder, "cases.yaml", {"evalcases": cases})
    results = [
        {"eval_id": name, "score": 0.5, "candidate_answer": said, "target": "bot"}
        for name, said in SAID.items()
    ]
    _write(folder, ".agentv/results/eval_1.jsonl", *results)


def _langfuse(folder: Path) -> None:
    items = [
        {"id": name, "input": question, "expectedOutput": answer, "datasetId": "d"}
        for name, (question, answer) in QUESTIONS.items()
    ]
    run = [
        {"datasetRunName": "v1", "datasetItemId": name, "traceId": f"t-{name}"} for name in SAID
    ]
    traces = [
        {"id": f"t-{name}", "timestamp": "2026-01-01T10:00:00Z", "input": "?", "output": said}
        for name, said in SAID.items()
    ]
    scores = [
        {
            "traceId": f"t-{name}",
            "source": "ANNOTATION",
            "authorUserId": "ann",
            "name": "correct",
            "dataType": "BOOLEAN",
            "value": int(name == "i1"),
        }
        for name in SAID
    ]
    _write(folder, "export/rows.jsonl", *items, *run, *traces, *scores)


def _phoenix(folder: Path) -> None:
    examples = [
        {"id": name, "input": {"question": question}, "output": {"answer": answer}}
        for name, (question, answer) in QUESTIONS.items()
    ]
    runs = [
        {
            "example_id": name,
            "repetition_number": 1,
            "input": {"question": "?"},
            "reference_output": {},
            "output": said,
            "error": None,
            "annotations": [
                {"name": "correct", "annotator_kind": "HUMAN", "score": float(name == "i1")}
            ],
        }
        for name, said in SAID.items()
    ]
    _write(folder, "export/examples.jsonl", *examples)
    _write(folder, "export/runs.jsonl", *runs)


@pytest.fixture
def desk(tmp_path: Path, steelyard: Steelyard) -> Steelyard:
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "capitals.yaml").write_text(RUBRIC, encoding="utf-8")

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return steelyard(*line.split(), cwd=tmp_path)

    return run


def _passed(desk: Steelyard, folder: Path) -> dict[str, bool]:
    """The verdicts of a run over the responses."""
    done = desk("run cases.yaml --responses responses.jsonl --rubric rubric/capitals@1.0")
    assert done.returncode == 0, done.stderr
    desk("export latest --to jsonl -o out.jsonl")
    rows = (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["record_id"]: row["passed"] for row in map(json.loads, rows)}


def test_results_of_agentv_are_graded_by_a_rubric(desk: Steelyard, tmp_path: Path) -> None:
    _agentv(tmp_path)

    targets = desk("convert .agentv/targets.yaml --from agentv --to targets -o steelyard.yaml")
    results = desk("convert .agentv/results --from agentv --to responses -o responses.jsonl")

    assert (targets.returncode, results.returncode) == (0, 0)
    assert _passed(desk, tmp_path) == {"i1": True, "i2": False}


@pytest.mark.parametrize(("platform", "write"), [("langfuse", _langfuse), ("phoenix", _phoenix)])
def test_an_experiment_is_graded_and_compared_with_its_people(
    desk: Steelyard, tmp_path: Path, platform: str, write: Callable[[Path], None]
) -> None:
    write(tmp_path)

    made = [
        desk(f"convert export --from {platform} --to {to} -o {output}").returncode
        for to, output in OUTPUTS.items()
    ]

    assert made == [0, 0, 0]
    assert _passed(desk, tmp_path) == {"i1": True, "i2": False}
    assert _agreement(desk) == 1.0


def _agreement(desk: Steelyard) -> float:
    """How often the checks and the people agree."""
    desk(
        "review import labels.csv --map passed=correct --rubric rubric/capitals@1.0 --run latest "
        "--exposure blind --annotator ann"
    )
    found = json.loads(desk("review agreement latest --format json").stdout)
    estimates = found["rubrics"][0]["questions"][0]["judge"]["estimates"]
    return next(one["value"] for one in estimates if one["name"] == "agreement")
