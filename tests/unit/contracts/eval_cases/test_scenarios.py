"""The scenarios of the contract, one test each, in their order and under their names."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import application
from steelyard.errors import UnreadableFileError
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject
from steelyard.model.message import FileBlock, Message, ToolCall
from strategies.eval_folder import EvalFolder, jsonl, row, without

SIDECAR = "execution:\n  target: azure_base\nevaluator: llm_judge\n"
GUIDELINES = 'guideline_patterns: ["*.instructions.md"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    return EvalFolder(tmp_path)


def goals(count: int) -> list[JsonObject]:
    return [row(id=f"test-{n}", expected_outcome=f"Goal {n}") for n in range(1, count + 1)]


def test_detect_jsonl_file_by_extension(folder: EvalFolder) -> None:
    """EC-01"""
    folder.write("evals.jsonl", goals(2))

    assert [case.id for case in folder.load("evals.jsonl")] == ["test-1", "test-2"]


@pytest.mark.parametrize("name", ["evals.yaml", "evals.yml"])
def test_detect_yaml_file_by_extension(folder: EvalFolder, name: str) -> None:
    """EC-02"""
    folder.write(name, {"evalcases": [row(id="test-1")]})

    assert [case.id for case in folder.load(name)] == ["test-1"]


@pytest.mark.parametrize("name", ["evals.json", "evals.txt", "evals.csv", "evals"])
def test_reject_unsupported_file_extensions(folder: EvalFolder, name: str) -> None:
    """EC-03"""
    folder.write(name, jsonl(row()))

    with pytest.raises(UnreadableFileError, match=r"\.yaml, \.yml, \.jsonl"):
        folder.load(name)


def test_parse_valid_single_line_jsonl(folder: EvalFolder) -> None:
    """EC-08"""
    line = (
        '{"id": "test-1", "expected_outcome": "Goal", '
        '"input_messages": [{"role": "user", "content": "Query"}]}'
    )
    folder.write("data.jsonl", line)

    (case,) = folder.load("data.jsonl")
    assert case.id == "test-1"
    assert case.expected_outcome == "Goal"
    assert case.input_messages == (Message(role="user", content="Query"),)


def test_parse_multi_line_jsonl(folder: EvalFolder) -> None:
    """EC-08"""
    folder.write("data.jsonl", goals(3))

    found = [(case.id, case.expected_outcome) for case in folder.load("data.jsonl")]
    assert found == [("test-1", "Goal 1"), ("test-2", "Goal 2"), ("test-3", "Goal 3")]


def test_skip_empty_lines(folder: EvalFolder) -> None:
    """EC-09"""
    one, two, three = (json.dumps(fields) for fields in goals(3))
    folder.write("data.jsonl", f"{one}\n\n{two}\n   \n{three}\n")

    assert len(folder.load("data.jsonl")) == 3
    assert folder.findings("data.jsonl") == []


def test_error_on_malformed_json(folder: EvalFolder) -> None:
    """EC-11"""
    bad = '{"id": "test-5", "expected_outcome": "Goal 5" "input_messages": []}'
    folder.write("data.jsonl", jsonl(*goals(4)) + bad)

    with pytest.raises(UnreadableFileError, match=r"Line 5: Invalid JSON - expected ',' or '}'"):
        folder.load("data.jsonl")


def test_error_on_missing_required_fields(
    folder: EvalFolder, caplog: pytest.LogCaptureFixture
) -> None:
    """EC-14, EC-16"""
    rows = [*goals(2), without("expected_outcome", id="test-3"), row(id="test-4")]
    folder.write("data.jsonl", rows)

    cases = folder.load("data.jsonl")
    assert [case.id for case in cases] == ["test-1", "test-2", "test-4"]
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("steelyard", logging.WARNING)
    assert "Line 3: missing expected_outcome" in record.getMessage()


def test_load_metadata_from_sidecar_yaml(folder: EvalFolder) -> None:
    """EC-29"""
    folder.write("dataset.jsonl", goals(2))
    folder.write("dataset.yaml", f"description: Test dataset\ndataset: my-tests\n{SIDECAR}")

    cases = folder.load("dataset.jsonl")
    assert {case.dataset for case in cases} == {"my-tests"}
    assert {case.target for case in cases} == {"azure_base"}
    assert {case.evaluator for case in cases} == {"llm_judge"}


def test_use_defaults_when_sidecar_not_found(folder: EvalFolder) -> None:
    """EC-30"""
    folder.write("dataset.jsonl", [row()])

    (case,) = folder.load("dataset.jsonl")
    assert (case.dataset, case.target, case.evaluator) == ("dataset", "default", "llm_judge")
    assert case.evaluators == ()


def test_look_for_companion_yaml_with_same_base_name(folder: EvalFolder) -> None:
    """EC-28"""
    folder.write("evals/subfolder/mytest.jsonl", [row()])
    folder.write("evals/subfolder/dataset.yaml", "dataset: wrong\n")
    folder.write("evals/subfolder/mytest.yml", "dataset: wrong\n")
    folder.write("evals/mytest.yaml", "dataset: wrong\n")
    assert folder.load("evals/subfolder/mytest.jsonl")[0].dataset == "mytest"

    folder.write("evals/subfolder/mytest.yaml", "dataset: right\n")
    assert folder.load("evals/subfolder/mytest.jsonl")[0].dataset == "right"


def test_override_execution_target_per_case(folder: EvalFolder) -> None:
    """EC-35"""
    rows = [row(id="openai-test", execution={"target": "openai_gpt4"}), row(id="other")]
    folder.write("dataset.jsonl", rows)
    folder.write("dataset.yaml", SIDECAR)

    targets = [case.target for case in folder.load("dataset.jsonl")]
    assert targets == ["openai_gpt4", "azure_base"]


def test_override_evaluators_per_case(folder: EvalFolder) -> None:
    """EC-37"""
    own: JsonObject = {"type": "rubric", "rubrics": ["Must be polite"]}
    folder.write("dataset.jsonl", [row(id="rubric-test", evaluators=[own]), row(id="other")])
    folder.write("dataset.yaml", "evaluator: llm_judge\n")

    polite, other = folder.load("dataset.jsonl")
    items = (RubricItem(id="rubric-1", description="Must be polite"),)
    assert polite.evaluators == (Evaluator(name="rubric", type="rubric", rubrics=items),)
    assert (other.evaluators, other.evaluator) == ((), "llm_judge")


def test_merge_defaults_with_per_case_fields(folder: EvalFolder) -> None:
    """EC-35, EC-36"""
    folder.write("dataset.jsonl", [row(execution={"target": "openai"})])
    folder.write("dataset.yaml", SIDECAR)

    (case,) = folder.load("dataset.jsonl")
    assert (case.target, case.evaluator) == ("openai", "llm_judge")


def test_resolve_relative_file_reference(folder: EvalFolder) -> None:
    """EC-53"""
    code = folder.write("evals/tests/code.py", "print('hello')\n")
    folder.write("code.py", "print('not this one')\n")
    block: JsonObject = {"type": "file", "value": "./code.py"}
    folder.write(
        "evals/tests/dataset.jsonl", [row(input_messages=[{"role": "user", "content": [block]}])]
    )

    (case,) = folder.load("evals/tests/dataset.jsonl")
    shown = FileBlock(value="./code.py", path=str(code), text="print('hello')\n")
    assert case.input_messages == (Message(role="user", content=(shown,)),)
    assert case.file_paths == (str(code),)


def test_resolve_guideline_files_from_jsonl(folder: EvalFolder) -> None:
    """EC-56"""
    guide = folder.write("evals/python.instructions.md", "Use type hints.\n")
    folder.write("steelyard.yaml", GUIDELINES)
    block: JsonObject = {"type": "file", "value": "python.instructions.md"}
    folder.write(
        "evals/dataset.jsonl", [row(input_messages=[{"role": "user", "content": [block]}])]
    )

    (case,) = folder.load("evals/dataset.jsonl")
    (shown,) = case.input_messages[0].blocks
    assert isinstance(shown, FileBlock)
    assert (shown.guideline, shown.text) == (True, "Use type hints.\n")
    assert case.guideline_paths == (str(guide),)


def test_jsonl_and_yaml_produce_same_eval_case(folder: EvalFolder) -> None:
    """EC-27"""
    folder.write("same.jsonl", [row(id="test-1")])
    folder.write("yaml/same.yaml", {"evalcases": [row(id="test-1")]})

    assert folder.load("same.jsonl") == folder.load("yaml/same.yaml")


def test_all_eval_case_fields_supported_in_jsonl(folder: EvalFolder) -> None:
    """EC-25"""
    call: JsonObject = {"id": "c1", "tool": "search", "input": {"q": 1}, "output": [1]}
    case = folder.case(
        row(
            id="full-test",
            conversation_id="conv-1",
            expected_messages=[{"role": "assistant", "name": "bot", "tool_calls": [call]}],
            execution={"target": "azure"},
            evaluators=[{"name": "fast", "type": "latency", "threshold": 900, "weight": 2}],
            rubrics=["Is polite"],
        )
    )

    item = RubricItem(id="rubric-1", description="Is polite")
    used = ToolCall(id="c1", tool="search", input={"q": 1}, output=[1])
    assert (case.id, case.conversation_id, case.expected_outcome) == (
        "full-test",
        "conv-1",
        "Goal",
    )
    assert case.input_messages == (Message(role="user", content="Query"),)
    assert case.expected_messages == (Message(role="assistant", name="bot", tool_calls=(used,)),)
    assert (case.target, case.rubrics) == ("azure", (item,))
    assert case.evaluators == (
        Evaluator(name="rubric", type="rubric", rubrics=(item,)),
        Evaluator(name="fast", type="latency", weight=2.0, settings={"threshold": 900}),
    )


def test_line_number_in_parse_errors(folder: EvalFolder) -> None:
    """EC-11"""
    folder.write("data.jsonl", jsonl(*goals(41)) + '{"id": "test-42",}\n')

    with pytest.raises(UnreadableFileError, match=r"Line 42: Invalid JSON - .+ \(column 18\)"):
        folder.load("data.jsonl")


def test_field_validation_errors_reference_line(
    folder: EvalFolder, caplog: pytest.LogCaptureFixture
) -> None:
    """EC-15"""
    folder.write("data.jsonl", [*goals(9), row(id="test-10", input_messages="Query")])

    assert len(folder.load("data.jsonl")) == 9
    assert "Line 10: input_messages must be an array" in caplog.text


def test_sidecar_not_found_is_a_warning_not_error(
    folder: EvalFolder, caplog: pytest.LogCaptureFixture
) -> None:
    """EC-31"""
    caplog.set_level(logging.DEBUG, "steelyard")
    folder.write("dataset.jsonl", [row()])

    assert len(folder.load("dataset.jsonl")) == 1
    assert [record.levelno for record in caplog.records] == [logging.DEBUG]
    (file,) = folder.report("dataset.jsonl", verbose=True).files
    (finding,) = file.findings
    assert (finding.severity, finding.code) == ("warning", "missing_sidecar")


def test_existing_yaml_files_work_unchanged(folder: EvalFolder) -> None:
    """EC-02: a file in the dialect of the contract, with what its writers used to add."""
    case = row(execution={"evaluators": [{"name": "kw", "type": "code_judge", "script": ["a"]}]})
    header: JsonObject = {
        "$schema": "agentv-eval-v2",
        "description": "Old",
        "version": 1.0,
        "target": "base",
    }
    folder.write("old.yaml", {**header, "evalcases": [case]})

    (read,) = folder.load("old.yaml")
    settings: JsonObject = {"script": ["a"]}
    assert read.evaluators == (Evaluator(name="kw", type="code_judge", settings=settings),)
    assert (read.dataset, read.target) == ("old", "base")
    assert folder.findings("old.yaml") == []


def test_mixed_yaml_and_jsonl_in_same_repo(folder: EvalFolder) -> None:
    """EC-07"""
    folder.write("evals/test1.yaml", {"evalcases": [row()]})
    folder.write("evals/test2.jsonl", goals(2))

    report = folder.report("evals")
    found = [(Path(file.path).name, file.contract, file.accepted) for file in report.files]
    assert found == [("test1.yaml", "eval_cases", 1), ("test2.jsonl", "eval_cases", 2)]


def test_cli_works_with_both_formats(folder: EvalFolder) -> None:
    """EC-07"""
    shown: list[JsonObject] = []
    for path in (
        folder.write("test.jsonl", [row()]),
        folder.write("yaml/test.yaml", {"evalcases": [row()]}),
    ):
        done = CliRunner().invoke(application(), ["validate", str(path), "--format", "json"])
        assert done.exit_code == 0
        shown.append({**json.loads(done.stdout)["files"][0], "path": "…"})

    assert shown[0] == shown[1]
