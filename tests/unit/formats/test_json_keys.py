"""Keys that a JSON text gives twice are found, and nothing else is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.formats.json_keys import repeated_keys
from steelyard.formats.json_text import parse_json, parse_json_tolerantly
from steelyard.model.json_value import JsonValue

VALUES = st.recursive(
    st.none() | st.integers(-5, 5) | st.text(':"\\ aé', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(':"\\ aé', max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def paths(text: str) -> list[tuple[str | int, ...]]:
    data = text.encode()
    return [problem.path for problem in repeated_keys(data, parse_json(data))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1, "b": ":"}', []),
        ('{"a": 1, "a": 1}', [("a",)]),
        ('{"a":1,"a" :1}', [("a",)]),
        ('{"a": 1, "\\u0061": 2}', [("a",)]),
        ('{"a": 1, "a": "\\u003a"}', [("a",)]),
        ('{"a": "\\u003A \\"b\\": 1"}', []),
        ('{"a": {"b": 1, "b": 2, "b": 3}}', [("a", "b"), ("a", "b")]),
        ('[{"a": [{"b": 1, "b": 2}]}]', [(0, "a", 0, "b")]),
        ('{"a": 1e999, "a": 2}', [("a",)]),
        ('{"a": 1, "a": "\\u003A"}', [("a",)]),
        ('{"a": "\\u003cb\\u003e", "b": 1}', []),
        ('{"a": "\\u003cb\\u003e", "a": 1}', [("a",)]),
    ],
)
def test_repeated_keys_have_their_paths(text: str, found: list[tuple[str | int, ...]]) -> None:
    data = text.encode()
    value = parse_json_tolerantly(data).value

    assert [problem.path for problem in repeated_keys(data, value)] == found


def test_half_a_surrogate_pair_does_not_hide_a_repeated_key() -> None:
    data = b'{"a": "\\ud800", "a": "\\ud800"}'

    assert [one.path for one in repeated_keys(data, {"a": "\ud800"})] == [("a",)]


@given(VALUES, st.booleans(), st.sampled_from([None, (",", ":"), (" , ", " : ")]))
def test_a_text_that_was_written_has_none(
    value: JsonValue, is_ascii: bool, separators: tuple[str, str] | None
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, separators=separators)

    assert paths(text) == []


@given(st.dictionaries(st.text(':"\\ aé', max_size=3), VALUES, min_size=1, max_size=3), VALUES)
def test_a_member_that_is_added_once_more_is_found(
    value: dict[str, JsonValue], again: JsonValue
) -> None:
    name = next(iter(value))
    text = json.dumps(value)[:-1] + f", {json.dumps(name)}: {json.dumps(again)}}}"

    assert (name,) in paths(text)
