"""Repair makes JSON of what is meant, and of nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.judging.repair import repaired

OBJECTS = st.dictionaries(
    st.text(max_size=8),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=12),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=6,
    ),
    max_size=4,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'b'}", {"a": "b"}),
        ("{'a': 'it's'}", {"a": "it's"}),
        ("{'a': 'it\\'s'}", {"a": "it's"}),
        ("{“a”: ‘b’}", {"a": "b"}),
        ('{"a": "he said "no" to it", "b": 1}', {"a": 'he said "no" to it', "b": 1}),
        ('{"a": "two\nlines\tand a tab"}', {"a": "two\nlines\tand a tab"}),
        ('{"a": "C:\\path \\u00e4 \\n"}', {"a": "C:\\path ä \n"}),
        ("{a: 1, b_2: minor}", {"a": 1, "b_2": "minor"}),
        ('{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}),
        ('{"a": [1, 2,], "b": 3,}', {"a": [1, 2], "b": 3}),
        ('{"a": 1 "b": 2\n"c": {} "d": []}', {"a": 1, "b": 2, "c": {}, "d": []}),
        ('{"a": {"b": "c"}', {"a": {"b": "c"}}),
        ('{"a": {"b": ["c"', {"a": {"b": ["c"]}}),
        ('{"a": -1.5e3}\n``` That is all.', {"a": -1500.0}),
        ("{}", {}),
    ],
)
def test_what_is_meant_is_made_json(text: str, value: object) -> None:
    made = repaired(text)

    assert made is not None
    assert json.loads(made) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "no", "[1]", '"a"', '{"a": "never closed', '{"a": "b'),
        *('{"a": 1', '{"a": tru', '{"a": 1,', '{"a":', "{", '{"a": [1, 2'),
        *('{"a": 1]}', '{"a": 1}}', '{"a": 1} "b": 2}', '{"a": 1} {"a": 2}'),
        *('{"a": 4/5}', '{"a": #1}', '{"a": 01}', '{"a": 1.2.3}', "{\\}"),
    ],
)
def test_what_may_be_cut_off_or_ambiguous_is_left_alone(text: str) -> None:
    made = repaired(text)

    assert made is None


@pytest.mark.parametrize("text", ['{"a": 3 or 4}', '{"a" 1}', '{"a": not met}', "{a b}"])
def test_words_without_an_order_are_no_json_even_then(text: str) -> None:
    made = repaired(text)

    with pytest.raises(ValueError, match="Expecting"):
        json.loads(made or "")


@given(OBJECTS)
def test_json_stays_the_same(value: dict[str, object]) -> None:
    made = repaired(json.dumps(value, ensure_ascii=False))

    # A quote in a string may look like its end; then it is not touched, and never misread.
    assert made is None or _reads_as(made, value) or _has_inner_quotes(value)


def _reads_as(text: str, value: object) -> bool:
    return json.loads(text) == value


def _has_inner_quotes(value: object) -> bool:
    return '\\"' in json.dumps(value)


@given(st.text(st.sampled_from("{}[]\"':,\\ \n1aT“”‘’`-."), max_size=60))
def test_nothing_breaks_it(text: str) -> None:
    made = repaired("{" + text)

    assert made is None or made.startswith("{")
