"""Responses that are JSON, and JSON values compared."""

from __future__ import annotations

import pytest
from hypothesis import given

from steelyard.checks.json_reply import any_json, same_json, strict_json
from steelyard.errors import ParseError
from steelyard.model.json_value import JsonValue
from strategies.dataset_documents import VALUES

BLOCK = '```json\n{"a": 1}\n```'


@pytest.mark.parametrize(
    "response",
    [
        '{"a": 1}',
        f"Here you are:\n\n{BLOCK}\n\nAnything else?",
        '```JSON title="a"\n{"a": 1}\n```',
        '~~~json\n{"a": 1}\n~~~',
        '```\n{"a": 1}\n```',
        '- so:\n    ```json\n    {"a": 1}\n    ```',
        f"```python\nprint(1)\n```\n{BLOCK}\n```\nnot this\n```",
        '```json\n{"a": 1}',
    ],
)
def test_json_is_the_whole_response_or_the_one_block_of_it(response: str) -> None:
    assert any_json(response) == {"a": 1}


@pytest.mark.parametrize(
    "response",
    [
        "",
        'The answer is {"a": 1}.',
        f"{BLOCK}\n{BLOCK}",
        '```\n{"a": 1}\n```\n```\n{"a": 1}\n```',
        '```python\n{"a": 1}\n```',
        "```json\n{'a': 1}\n```",
    ],
)
def test_anything_else_is_none(response: str) -> None:
    with pytest.raises(ParseError):
        any_json(response)


def test_the_whole_response_is_needed_where_a_block_does_not_do() -> None:
    with pytest.raises(ParseError):
        strict_json(BLOCK)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        (None, False, False),
        ("1", 1, False),
        ([1, [2]], [1.0, [2]], True),
        ([1], [1, 1], False),
        ([True], [1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": True}, {"a": 1}, False),
        ({}, [], False),
        (10**30, 10**30, True),
    ],
)
def test_values_are_compared_as_json_has_them(
    left: JsonValue, right: JsonValue, same: bool
) -> None:
    assert same_json(left, right) is same
    assert same_json(right, left) is same


@given(VALUES)
def test_every_value_is_the_same_as_itself(value: JsonValue) -> None:
    assert same_json(value, value)
