"""Files of other tools are recognised by their keys."""

from __future__ import annotations

import pytest

from steelyard.contracts.importers.foreign_files import foreign_document, foreign_rows
from steelyard.model.json_value import JsonObject, JsonValue

ASKED: JsonObject = {"prompts": ["{{ input }}"], "providers": ["llm"]}


@pytest.mark.parametrize(
    ("top", "tool"),
    [
        ({"prompts": ["a"], "providers": ["echo"]}, "promptfoo"),
        ({**ASKED, "tests": [{"vars": {"a": "b"}, "assert": [{"type": "equals"}]}]}, "promptfoo"),
        ({"prompts": ["a"], "providers": ["openai:m"], "tests": [{"id": "a"}]}, "promptfoo"),
        (
            {"prompts": ["a"], "providers": [{"id": "openai:m"}], "tests": [{"id": "a"}]},
            "promptfoo",
        ),
        ({**ASKED, "defaultTest": {}, "tests": [{"id": "a"}]}, "promptfoo"),
        ({**ASKED, "tests": [{"id": "a", "vars": {"x": "b"}}]}, None),
        ({**ASKED, "providers": ["a:b"], "tests": [{"id": "a", "vars": {"input": 1}}]}, None),
        ({**ASKED, "tests": [{"assert": ["Refuses politely"]}]}, None),
        ({**ASKED, "tests": [{"assert": [{"type": "contains", "negate": True}]}]}, None),
        ({**ASKED, "name": "safety", "tests": "cases.yaml"}, None),
        ({"a": {"id": "a.dev.v0"}, "a.dev.v0": {"class": "m:C", "args": {}}}, "openai-evals"),
        ({"results": {}, "configs": {}, "n-shot": {}, "date": 1}, "lm-eval"),
        ({"targets": [{"name": "a", "provider": "cli"}]}, "agentv"),
        ({"evalcases": []}, None),
        ({"a": {"class": "first"}}, None),
        ([], None),
    ],
)
def test_a_document_is_of_a_tool_or_of_none(top: JsonValue, tool: str | None) -> None:
    found = foreign_document(top)

    assert (found.tool if found else None) == tool


@pytest.mark.parametrize(
    ("row", "noun", "to"),
    [
        ({"object": "eval.run.output_item"}, "an export of OpenAI Evals", "eval_cases"),
        ({"item": {}, "sample": {}}, "an export of OpenAI Evals", "eval_cases"),
        (
            {"doc_id": 0, "doc": {}, "arguments": {}, "resps": []},
            "a sample log of lm-eval",
            "eval_cases",
        ),
        ({"spec": {"completion_fns": ["m"]}}, "a log of oaieval", "responses"),
        (
            {"id": "i", "input": "q", "expectedOutput": "a", "datasetId": "d"},
            "a file of dataset items of Langfuse",
            "eval_cases",
        ),
        (
            {"eval_id": "a", "score": 1, "target": "t"},
            "a file of results of agentv",
            "responses",
        ),
    ],
)
def test_the_first_row_tells_what_it_becomes(row: JsonObject, noun: str, to: str) -> None:
    found = foreign_rows(row)

    assert found is not None
    assert (found.noun, found.to) == (noun, to)


@pytest.mark.parametrize("row", [{"id": "a", "input": "b"}, {"spec": "a"}, None, []])
def test_other_rows_are_of_no_tool(row: JsonValue) -> None:
    assert foreign_rows(row) is None
