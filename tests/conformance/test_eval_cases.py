"""Eval files in the wild, beside what the tool they were written for makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import UnreadableFileError
from steelyard.model.case import Case
from steelyard.model.evaluator import Evaluator
from steelyard.model.json_value import JsonObject
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.load_eval_cases import load_eval_cases
from steelyard.usecases.datasets.validate import ValidateOptions, validate

SIDECAR = "examples/features/basic-jsonl/evals/dataset.yaml"
FILES = [
    "examples/features/basic-jsonl/evals/dataset.jsonl",
    "examples/features/basic/evals/dataset.yaml",
    "examples/features/batch-cli/evals/dataset.yaml",
    "examples/features/code-judge-with-llm-calls/evals/contextual-precision.yaml",
    "examples/features/code-judge-with-llm-calls/evals/contextual-recall.yaml",
    "examples/features/composite/evals/dataset.yaml",
    "examples/features/rubric/evals/dataset.yaml",
    "examples/features/tool-trajectory-simple/evals/dataset.yaml",
]
# What is odd in them, though no contract forbids it: a code, a line and a message.
WARNINGS: dict[str, tuple[tuple[str, int, str], ...]] = {
    FILES[2]: (
        (
            "duplicate_content",
            138,
            "the same content as the record of line 98, under another id",
        ),
    )
}
# Where our reading is another one on purpose: what the original says, and what we say.
DIFFERENCES: dict[str, tuple[Any, Any]] = {
    "the type of an evaluator that runs a program": ("code", "code_judge"),
    "the type of the evaluator made of a rubrics field": ("llm_judge", "rubric"),
    "a sidecar that is named itself": (
        f"Invalid test file format: {SIDECAR} - missing 'evalcases' field",
        [],
    ),
}


@pytest.fixture
def folder(conformance: Path) -> Path:
    return conformance / "eval-cases"


@pytest.fixture
def expected(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def seen(evaluator: Evaluator, folder: Path) -> JsonObject:
    """An evaluator in the words of the original."""
    our_code, our_rubric = (
        DIFFERENCES["the type of an evaluator that runs a program"],
        DIFFERENCES["the type of the evaluator made of a rubrics field"],
    )
    types = {ours: theirs for theirs, ours in (our_code, our_rubric)}
    row: JsonObject = {
        "name": evaluator.name,
        "type": types.get(evaluator.type, evaluator.type),
        "mode": evaluator.settings.get("mode"),
    }
    aggregator = evaluator.settings.get("aggregator")
    if isinstance(aggregator, dict):
        row["aggregator"] = aggregator["type"]
        row["members"] = [seen(member, folder) for member in evaluator.members]
    elif evaluator.prompt_path:
        row["promptPath"] = relative(evaluator.prompt_path, folder)
    if evaluator.rubrics:
        row["rubrics"] = [item.id for item in evaluator.rubrics]
    return {name: value for name, value in row.items() if value is not None}


def relative(path: str, folder: Path) -> str:
    return Path(path).relative_to(folder.resolve()).as_posix()


def summary(case: Case, folder: Path) -> JsonObject:
    """A case in the words of the original."""
    row: JsonObject = {
        "id": case.id,
        "conversation_id": case.conversation_id,
        "evaluator": case.evaluator,
        "criteria_len": len(case.expected_outcome),
        "input_roles": [message.role for message in case.input_messages],
        "expected_roles": [message.role for message in case.expected_messages],
        "guideline_paths": [relative(path, folder) for path in case.guideline_paths],
        "file_paths": [relative(path, folder) for path in case.file_paths],
    }
    listed = [seen(evaluator, folder) for evaluator in case.evaluators]
    return {**{k: v for k, v in row.items() if v is not None}, "evaluators": [*listed] or None}


def test_every_file_is_looked_at(expected: dict[str, Any]) -> None:
    assert sorted(expected) == sorted([*FILES, SIDECAR])


@pytest.mark.parametrize("name", FILES)
def test_a_file_reads_as_its_own_tool_reads_it(
    folder: Path, expected: dict[str, Any], name: str
) -> None:
    """EC-02, EC-53, EC-56"""
    cases = load_eval_cases(DiskWorkspace(folder), folder / name)
    theirs = expected[name]
    told = [{k: v for k, v in case.items() if k != "question_len"} for case in theirs["cases"]]

    assert {case.dataset for case in cases} == {theirs["dataset"]}
    assert len(cases) == theirs["count"]
    assert [summary(case, folder) for case in cases] == told


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_no_finding_but_those_listed(
    folder: Path, expected: dict[str, Any], name: str
) -> None:
    report = validate(DiskWorkspace(folder), [str(folder / name)], ValidateOptions(strict=True))
    found = [finding for file in report.files for finding in file.findings]

    assert expected[name]["messages"] == []
    assert [(one.severity, one.code, one.line, one.message) for one in found] == [
        ("warning", *listed) for listed in WARNINGS.get(name, ())
    ]
    assert report.files[0].accepted == expected[name]["count"]


@pytest.mark.parametrize(
    ("difference", "name", "case"),
    [
        ("the type of an evaluator that runs a program", FILES[1], 1),
        ("the type of the evaluator made of a rubrics field", FILES[6], 0),
    ],
)
def test_an_evaluator_differs_as_listed(
    folder: Path, expected: dict[str, Any], difference: str, name: str, case: int
) -> None:
    """EC-40, EC-42"""
    cases = load_eval_cases(DiskWorkspace(folder), folder / name)
    theirs = expected[name]["cases"][case]["evaluators"][0]["type"]

    assert (theirs, cases[case].evaluators[0].type) == DIFFERENCES[difference]


def test_a_sidecar_differs_as_listed(folder: Path, expected: dict[str, Any]) -> None:
    """EC-28: it is validated with its file; only loading it as cases is an error."""
    report = validate(DiskWorkspace(folder), [str(folder / SIDECAR)], ValidateOptions())
    found = [finding for file in report.files for finding in file.findings]

    theirs, ours = DIFFERENCES["a sidecar that is named itself"]
    assert (expected[SIDECAR]["error"], found) == (theirs, ours)
    with pytest.raises(UnreadableFileError, match="missing evalcases"):
        load_eval_cases(DiskWorkspace(folder), folder / SIDECAR)
