"""A misspelt name is seen at every level of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.json_value import JsonObject
from strategies.eval_folder import EvalFolder, row

WEB = "https://pictures.example.com/a.png"
FAST: JsonObject = {"type": "latency", "threshold": 5}
CALL: JsonObject = {"tool": "search"}
COMPOSITE: JsonObject = {"type": "composite", "evaluators": [FAST]}
TRAJECTORY: JsonObject = {"type": "tool_trajectory", "mode": "exact"}

# The misspelt name, the name that was meant, and a row that holds it.
ROWS: list[tuple[str, str, str, JsonObject]] = [
    ("row", "conversationId", "conversation_id", {"conversationId": "c"}),
    ("row", "expected_mesages", "expected_messages", {"expected_mesages": []}),
    ("row", "evalautors", "evaluators", {"evalautors": []}),
    ("row", "assertion", "assertions", {"assertion": []}),
    ("row", "rubric", "rubrics", {"rubric": []}),
    ("row", "tag", "tags", {"tag": []}),
    ("execution", "targt", "target", {"execution": {"targt": "a"}}),
    ("execution", "evaluator", "evaluators", {"execution": {"evaluator": []}}),
    (
        "message",
        "nme",
        "name",
        {"input_messages": [{"role": "user", "content": "a", "nme": "b"}]},
    ),
    (
        "message",
        "toolCalls",
        "tool_calls",
        {"input_messages": [{"role": "user", "content": "a", "toolCalls": []}]},
    ),
    (
        "block",
        "vlaue",
        "value",
        {
            "input_messages": [
                {"role": "user", "content": [{"type": "image", "url": WEB, "vlaue": "b"}]}
            ]
        },
    ),
    (
        "tool call",
        "outputs",
        "output",
        {"expected_messages": [{"role": "assistant", "tool_calls": [{**CALL, "outputs": 1}]}]},
    ),
    ("evaluator", "wieght", "weight", {"evaluators": [{**FAST, "wieght": 1}]}),
    (
        "evaluator",
        "promt",
        "prompt",
        {"evaluators": [{"type": "llm_judge", "promt": "Judge."}]},
    ),
    (
        "aggregator",
        "weigths",
        "weights",
        {"evaluators": [{**COMPOSITE, "aggregator": {"type": "weighted_average", "weigths": {}}}]},
    ),
    (
        "member",
        "treshold",
        "threshold",
        {
            "evaluators": [
                {
                    "type": "composite",
                    "evaluators": [{**FAST, "treshold": 5}],
                    "aggregator": {"type": "llm_judge"},
                }
            ]
        },
    ),
    (
        "expected call",
        "arg",
        "args",
        {"evaluators": [{**TRAJECTORY, "expected": [{**CALL, "arg": {}}]}]},
    ),
    ("rubric item", "requird", "required", {"rubrics": [{"description": "a", "requird": True}]}),
]
HEADERS: list[tuple[str, str, JsonObject]] = [
    ("datset", "dataset", {"datset": "a"}),
    ("Execution", "execution", {"Execution": {}}),
    ("evaluater", "evaluator", {"evaluater": "llm_judge"}),
    ("executon", "execution", {"executon": {"target": "live"}}),
    ("trget", "target", {"execution": {"trget": "live"}}),
    ("wieght", "weight", {"evaluators": [{**FAST, "wieght": 1}]}),
]


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    return EvalFolder(tmp_path)


@pytest.mark.parametrize(
    ("level", "name", "meant", "fields"), ROWS, ids=[f"EC-21 {row[0]} {row[1]}" for row in ROWS]
)
def test_a_near_miss_in_a_row_is_a_warning_and_strictly_an_error(
    folder: EvalFolder, level: str, name: str, meant: str, fields: JsonObject
) -> None:
    folder.write("data.jsonl", [row(**fields)])

    (finding,) = folder.findings("data.jsonl")
    assert (finding.severity, finding.code) == ("warning", "unknown_field")
    assert finding.path.rsplit(".", 1)[-1] == name
    assert finding.hint == f"did you mean '{meant}'?"
    assert [found.severity for found in folder.findings("data.jsonl", strict=True)] == ["error"]
    assert len(folder.load("data.jsonl")) == 1


@pytest.mark.parametrize(("name", "meant", "header"), HEADERS)
@pytest.mark.parametrize("place", ["file", "sidecar"])
def test_a_near_miss_in_a_header_is_a_warning(
    folder: EvalFolder, place: str, name: str, meant: str, header: JsonObject
) -> None:
    """EC-21"""
    if place == "file":
        folder.write("data.yaml", {**header, "evalcases": [row()]})
    else:
        folder.write("data.jsonl", [row()])
        folder.write("data.yaml", header)

    (finding,) = folder.findings("data.yaml")
    assert (finding.severity, finding.code) == ("warning", "unknown_field")
    assert finding.path.rsplit(".", 1)[-1] == name
    assert finding.hint == f"did you mean '{meant}'?"


def test_a_misspelt_list_of_cases_is_named(folder: EvalFolder) -> None:
    """EC-21"""
    folder.write("data.yaml", {"evalcase": [row()]})

    typo, missing = folder.findings("data.yaml")
    assert typo.hint == "did you mean 'evalcases'?"
    assert missing.message == "Line 1: missing evalcases"


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": {"tag": 1, "idd": 2}},
        {"input_messages": [{"role": "user", "content": {"valu": 1, "rolle": 2}}]},
        {"expected_output": {"typ": 1}},
        {"evaluators": [{"type": "script", "script": ["a"], "config": {"cwdd": 1}}]},
        {"somethingelse": 1},
    ],
)
def test_names_in_free_objects_are_left_alone(folder: EvalFolder, fields: JsonObject) -> None:
    """EC-21"""
    assert folder.row_findings(row(**fields)) == []
