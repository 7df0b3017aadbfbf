"""The programs that run assertions of promptfoo on an answer."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files

import pytest

from real_parts import require_program
from steelyard.model.json_value import JsonObject

_PROGRAMS = files("steelyard.usecases.convert.promptfoo")
_CALLED: JsonObject = {
    "candidate_answer": "",
    "output_messages": [
        {"role": "assistant", "tool_calls": [{"id": "c", "tool": "add", "input": {"a": 1}}]}
    ],
}


def verdict(command: list[str], given: JsonObject) -> str:
    ran = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=True, timeout=60
    )
    return str(json.loads(ran.stdout)["verdict"])


@pytest.mark.parametrize(
    "code",
    [
        "output[0]['function']['name'] == 'add'",
        "json.loads(output[0]['function']['arguments']) == {'a': 1}",
        "output[0]['functionCall']['args']['a'] == 1",
    ],
)
def test_an_answer_of_tool_calls_is_their_list_in_python(code: str) -> None:
    command = [sys.executable, str(_PROGRAMS / "promptfoo_python.py")]
    given: JsonObject = {**_CALLED, "config": {"vars": {}, "code": code}}

    assert verdict(command, given) == "pass"


@pytest.mark.parametrize(
    ("answer", "config"),
    [
        ({}, {"code": "output[0].function.name === 'add'"}),
        ({}, {"code": "JSON.parse(output[0].function.arguments).a === 1"}),
        (
            {},
            {
                "transforms": [{"code": "output[0].functionCall"}, {"code": "output.name"}],
                "look_for": {"type": "equals", "value": "add"},
            },
        ),
        (
            {"candidate_answer": "plain", "output_messages": []},
            {"code": "output === 'plain'"},
        ),
    ],
)
def test_an_answer_of_tool_calls_is_their_list_in_javascript(
    answer: JsonObject, config: JsonObject
) -> None:
    require_program("node", "nodejs")
    command = ["node", str(_PROGRAMS / "promptfoo_javascript.cjs")]

    assert verdict(command, {**_CALLED, **answer, "config": {"vars": {}, **config}}) == "pass"
