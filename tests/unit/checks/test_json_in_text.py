"""JSON that stands in a text."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.checks.json_in_text import embedded_json, fenced_json, lenient_json
from steelyard.model.json_value import JsonValue
from strategies.effort import examples
from strategies.legal_eval import json_values

SIZE = 300_000
HOSTILE = {
    "open braces": "{" * 1_000_000,
    "closed braces": "}" * SIZE,
    "balanced braces": "{" * (SIZE // 2) + "}" * (SIZE // 2),
    "open brackets": '{"a": ' + "[" * SIZE,
    "nested objects": '{"a":' * (SIZE // 5),
    "empty objects": "{} " * (SIZE // 3),
    "quotes": '{"' * (SIZE // 2),
    "escaped quotes": '{"' + '\\"' * (SIZE // 2),
    "a backslash at the end": '{"a' + "\\" * (SIZE - 1),
    "fences": "```" * (SIZE // 3),
    "fences with braces": "```{" * (SIZE // 4),
    "digits": '{"a": ' + "1" * SIZE + "}",
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (' {"a": 1}\n', {"a": 1}),
        ('["a"]', ["a"]),
        ('{"a": "b\nc"}', {"a": "b\nc"}),
        ('"a"', None),
        ("5", None),
        ("", None),
        ('{"a": 1} and more', None),
        ('{"a": ', None),
        ("{'a': 1}", None),
        ('{"a": ' + "9" * 5000 + "}", None),
    ],
)
def test_a_text_that_is_json(text: str, value: JsonValue) -> None:
    assert lenient_json(text) == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('```\n["a"]```', [["a"]]),
        ('```{"a": 1}```', [{"a": 1}]),
        ('x ```json\n{"a": 1}\n``` y ```\n{"b": 2}\n``` z', [{"a": 1}, {"b": 2}]),
        ('```json\n{"a": 1}', [{"a": 1}]),
        ('```json\n{"a": \n```', []),
        ("```python\nx\n```", []),
        ('{"a": 1}', []),
    ],
)
def test_json_in_fences(text: str, values: list[JsonValue]) -> None:
    assert list(fenced_json(text)) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('It is {"a": 1}, or {"b": {"c": 2}}.', [{"a": 1}, {"b": {"c": 2}}]),
        ('A 5" pipe {"a": "}{"} and so on', [{"a": "}{"}]),
        ('{"a": "\\"}"}', [{"a": '"}'}]),
        ('\\text{x} then {"a": 1}', [{"a": 1}]),
        ('{ never closed {"a": 1}', []),
        ('{"a": "never closed', []),
        ("none", []),
    ],
)
def test_json_between_other_words(text: str, values: list[JsonValue]) -> None:
    assert list(embedded_json(text)) == values


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=3), st.text(max_size=20))
@settings(max_examples=examples(200))
def test_an_object_is_found_behind_any_words_without_a_brace(
    value: dict[str, JsonValue], words: str
) -> None:
    words = words.replace("{", "(")
    text = f"{words}{json.dumps(value)}{words}"

    assert list(embedded_json(text)) == [value]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.trials
def test_no_text_takes_more_than_linear_time(name: str) -> None:
    started = time.process_time()
    text = HOSTILE[name]
    found = [lenient_json(text), *fenced_json(text), *embedded_json(text)]

    assert len(found) <= 1 + SIZE // 3
    assert time.process_time() - started < 3
