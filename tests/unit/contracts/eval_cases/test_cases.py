"""A row and its file's defaults become a case."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.case import Case
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.eval_folder import EvalFolder, row, without


def latency(name: str) -> JsonObject:
    return {"name": name, "type": "latency", "threshold": 5}


def names(case: Case) -> list[str]:
    return [evaluator.name for evaluator in case.evaluators]


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    return EvalFolder(tmp_path)


@pytest.mark.parametrize(
    ("own", "header", "expected"),
    [
        ({"execution": {"target": "case"}}, {"execution": {"target": "file"}}, "case"),
        ({}, {"execution": {"target": "file"}}, "file"),
        ({"execution": {}}, {"execution": {"target": "file"}}, "file"),
        ({}, {"target": "old"}, "old"),
        ({}, {"target": "old", "execution": {"target": "file"}}, "file"),
        ({}, {}, "default"),
    ],
)
def test_the_nearest_target_wins(
    folder: EvalFolder, own: JsonObject, header: JsonObject, expected: str
) -> None:
    """EC-35"""
    folder.write("data.yaml", {**header, "evalcases": [row(**own)]})
    folder.write("lines/data.jsonl", [row(**own)])
    folder.write("lines/data.yaml", header)

    assert folder.load("data.yaml")[0].target == expected
    assert folder.load("lines/data.jsonl")[0].target == expected


@pytest.mark.parametrize(
    ("own", "header", "expected"),
    [
        ({"evaluator": "rubric"}, {"evaluator": "code_judge"}, "rubric"),
        ({}, {"evaluator": "code-grader"}, "code_judge"),
        ({}, {}, "llm_judge"),
    ],
)
def test_the_nearest_evaluator_wins(
    folder: EvalFolder, own: JsonObject, header: JsonObject, expected: str
) -> None:
    """EC-36"""
    folder.write("data.yaml", {**header, "evalcases": [row(**own)]})

    assert folder.load("data.yaml")[0].evaluator == expected


OWN: JsonObject = {"evaluators": [latency("own")]}
IN_EXECUTION: JsonObject = {"execution": {"evaluators": [latency("in execution")]}}
OF_FILE: JsonObject = {"evaluators": [latency("of file"), latency("second")]}
IN_FILES_EXECUTION: JsonObject = {"execution": {"evaluators": [latency("in file's execution")]}}


@pytest.mark.parametrize(
    ("own", "header", "expected"),
    [
        ({**OWN, **IN_EXECUTION}, OF_FILE, ["in execution"]),
        (OWN, OF_FILE, ["own"]),
        ({}, OF_FILE, ["of file", "second"]),
        ({}, {**OF_FILE, **IN_FILES_EXECUTION}, ["in file's execution"]),
        (OWN, IN_FILES_EXECUTION, ["own"]),
        ({}, {}, []),
    ],
)
def test_the_first_list_of_evaluators_that_is_present_wins_whole(
    folder: EvalFolder, own: JsonObject, header: JsonObject, expected: list[str]
) -> None:
    """EC-37"""
    folder.write("data.yaml", {**header, "evalcases": [row(**own)]})
    folder.write("lines/data.jsonl", [row(**own)])
    folder.write("lines/data.yaml", header)

    assert names(folder.load("data.yaml")[0]) == expected
    assert names(folder.load("lines/data.jsonl")[0]) == expected


def test_an_execution_without_evaluators_still_inherits_them(folder: EvalFolder) -> None:
    """EC-38"""
    folder.write("data.jsonl", [row(execution={"target": "other"})])
    folder.write("data.yaml", IN_FILES_EXECUTION)

    (case,) = folder.load("data.jsonl")
    assert (names(case), case.target) == (["in file's execution"], "other")


@pytest.mark.parametrize("own", [{"evaluators": []}, {"execution": {"evaluators": []}}])
def test_an_empty_list_is_present(folder: EvalFolder, own: JsonObject) -> None:
    """EC-39"""
    folder.write("data.jsonl", [row(**own)])
    folder.write("data.yaml", OF_FILE)

    (case,) = folder.load("data.jsonl")
    assert (case.evaluators, case.evaluator) == ((), "llm_judge")


@pytest.mark.parametrize(
    ("own", "header", "others"),
    [
        ({}, {}, []),
        (OWN, {}, ["own"]),
        (IN_EXECUTION, {}, ["in execution"]),
        ({}, OF_FILE, ["of file", "second"]),
    ],
)
def test_the_rubrics_field_becomes_the_first_evaluator(
    folder: EvalFolder, own: JsonObject, header: JsonObject, others: list[str]
) -> None:
    """EC-40"""
    folder.write("data.yaml", {**header, "evalcases": [row(rubrics=["Is polite"], **own)]})

    (case,) = folder.load("data.yaml")
    items = (RubricItem(id="rubric-1", description="Is polite"),)
    assert case.rubrics == items
    assert case.evaluators[0] == Evaluator(name="rubric", type="rubric", rubrics=items)
    assert names(case)[1:] == others


def test_empty_rubrics_are_no_evaluator(folder: EvalFolder) -> None:
    """EC-40"""
    case = folder.case(row(rubrics=[]))

    assert (case.rubrics, case.evaluators) == ((), ())


@pytest.mark.parametrize(
    "reason",
    [
        {"expected_output": "Yes"},
        {"expected_messages": [{"role": "assistant", "content": "Yes"}]},
        {"assertions": ["Is polite"]},
        {"assert": ["Is polite"]},
        {"evaluators": ["Is polite"]},
        {"execution": {"assertions": ["Is polite"]}},
        {"rubrics": ["Is polite"]},
    ],
)
def test_a_test_may_lack_the_goal_when_something_else_grades_it(
    folder: EvalFolder, reason: JsonObject
) -> None:
    """EC-19"""
    folder.write("data.yaml", {"tests": [without("expected_outcome", **reason)]})

    (case,) = folder.load("data.yaml")
    assert case.expected_outcome == ""


@pytest.mark.parametrize(
    "empty",
    [
        {},
        {"expected_output": []},
        {"expected_messages": []},
        {"assertions": []},
        {"rubrics": []},
        {"execution": {"target": "x"}},
        {"execution": {"assertions": []}},
    ],
)
def test_a_test_that_nothing_grades_lacks_its_goal(folder: EvalFolder, empty: JsonObject) -> None:
    """EC-19"""
    folder.write("data.yaml", {"tests": [without("expected_outcome", **empty)]})

    (finding,) = folder.findings("data.yaml")
    assert (finding.code, finding.path) == ("missing_required_field", "tests[0].criteria")


def test_an_eval_case_needs_its_goal_whatever_grades_it(folder: EvalFolder) -> None:
    """EC-19"""
    fields = without("expected_outcome", rubrics=["a"], expected_output="Yes")
    folder.write("data.yaml", {"evalcases": [fields]})

    (finding,) = folder.findings("data.yaml")
    assert finding.message == "Line 2: missing expected_outcome"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("id", None, "missing id"),
        ("expected_outcome", None, "missing expected_outcome"),
        ("input_messages", None, "missing input_messages"),
        ("id", 5, "id must be a string"),
        ("expected_outcome", ["a"], "expected_outcome must be a string"),
        ("input_messages", "Query", "input_messages must be an array"),
        ("input_messages", [], "input_messages must have at least 1 item(s)"),
        ("id", " ", "id must not be blank"),
        ("expected_outcome", "\t", "expected_outcome must not be blank"),
        ("expected_messages", "Yes", "expected_messages must be an array"),
        ("conversation_id", 5, "conversation_id must be a string"),
        ("execution", "live", "execution must be an object"),
        ("execution", {"target": 5}, "execution.target must be a string"),
        ("evaluators", "Is polite", "evaluators must be an array"),
        ("rubrics", "Is polite", "rubrics must be an array"),
        ("tags", "a", "tags must be an array"),
        ("metadata", [], "metadata must be an object"),
    ],
)
def test_a_finding_names_the_field_and_what_it_should_be(
    folder: EvalFolder, name: str, value: JsonValue, message: str
) -> None:
    """EC-14, EC-15, EC-17"""
    fields = without(name) if value is None else row(**{name: value})
    folder.write("data.jsonl", [row(id="first"), fields])

    (finding,) = folder.findings("data.jsonl")
    assert finding.message == f"Line 2: {message}"
    assert (finding.severity, finding.line, finding.index) == ("error", 2, 1)


def test_a_blank_text_is_no_input(folder: EvalFolder) -> None:
    """EC-17"""
    found = folder.row_findings(without("input_messages", input=" "))

    assert found == [("value_out_of_range", "input")]


def test_a_later_case_with_the_same_id_is_an_error(folder: EvalFolder) -> None:
    """EC-18"""
    folder.write("data.jsonl", [row(), row(id="other"), row()])
    folder.write("yaml/data.yaml", {"evalcases": [row(), row(id="other"), row()]})

    (file,) = folder.report("data.jsonl").files
    (finding,) = file.findings
    assert (file.total, file.accepted) == (3, 2)
    assert (finding.code, finding.path, finding.index) == ("duplicate_record_id", "id", 2)
    assert [case.id for case in folder.load("yaml/data.yaml")] == ["case-1", "other"]


def test_what_the_contract_does_not_know_is_kept(folder: EvalFolder) -> None:
    """EC-20"""
    beyond: JsonObject = {
        "notes": "n",
        "zone": {"a": [1]},
        "execution": {"target": "t", "x-region": 1},
    }
    case = folder.case(row(tags=["a"], metadata={"idd": 1}, **beyond))

    assert case.extra == {"notes": "n", "zone": {"a": [1]}, "execution": {"x-region": 1}}
    assert (case.tags, case.metadata) == (("a",), {"idd": 1})
    assert folder.findings("data.jsonl") == []


def test_where_a_case_was_read_is_no_part_of_it(folder: EvalFolder) -> None:
    """EC-26, EC-27"""
    folder.write("one/data.jsonl", [row()])
    folder.write("two/data.yaml", {"evalcases": [row(id="first"), row()]})

    (one,) = folder.load("one/data.jsonl")
    other = folder.load("two/data.yaml")[1]
    assert (one.place.line, one.place.index, other.place.index) == (1, 0, 1)
    assert one.place != other.place
    assert one == other
    assert repr(one) == repr(other)


def test_every_kind_of_field_reads_the_same_from_yaml_and_jsonl(folder: EvalFolder) -> None:
    """EC-27"""
    folder.write("guide.md", "Be brief.\n")
    blocks: list[JsonValue] = [{"type": "file", "value": "guide.md"}, "text"]
    rows = [
        row(id="1", input_messages=[{"role": "user", "content": blocks}], rubrics=["a"]),
        row(id="2", expected_output={"a": 1}, evaluators=[latency("x"), "Is polite"]),
        row(id="3", execution={"target": "live", "evaluators": ["b"]}, tags=["t"], zone=1.5),
    ]
    header: JsonObject = {"dataset": "qa", "evaluators": [latency("f")], "evaluator": "rubric"}
    folder.write("data.jsonl", rows)
    folder.write("data.yaml", header)
    folder.write("yaml/data.yaml", {**header, "evalcases": list(rows)})

    assert folder.load("data.jsonl") == folder.load("yaml/data.yaml")
