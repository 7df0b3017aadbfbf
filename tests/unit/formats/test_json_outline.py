from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.formats import json_outline
from steelyard.formats.json_outline import JsonOutline, has_more_values, most_values, outline
from strategies.effort import examples

TEXTS = st.text(st.sampled_from('a",[]{}\\é\n'), max_size=8)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def held(value: Any) -> list[Any]:
    """What an object or a list holds."""
    if isinstance(value, dict):
        return [*cast(dict[str, Any], value).values()]
    return cast(list[Any], value) if isinstance(value, list) else []


def count(value: Any) -> int:
    return 1 + sum(map(count, held(value)))


@given(value=VALUES.filter(held), chunk=st.integers(1, 40))
@settings(max_examples=examples(100))
def test_the_two_upper_levels_are_counted_wherever_the_text_is_cut(value: Any, chunk: int) -> None:
    data = json.dumps(value).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_outline, "_CHUNK", chunk)
        found = outline(data)

    # Between so many values stands a comma less.
    inner = sum(max(0, len(held(one)) - 1) for one in held(value))
    assert found == JsonOutline(isinstance(value, dict), len(value), inner + 1)


@given(value=VALUES)
@settings(max_examples=examples(100))
def test_no_text_has_more_values_than_are_counted(value: Any) -> None:
    assert most_values(json.dumps(value).encode()) >= count(value)


@given(value=VALUES, cut=st.integers(1, 20))
@settings(max_examples=examples(100))
def test_no_text_has_fewer_values_than_it_is_said_to_exceed(value: Any, cut: int) -> None:
    number = count(value)
    data = json.dumps(value).encode()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_outline, "_CHUNK", cut)
        assert has_more_values(data, number - 1) or number <= 1
        # An empty list or object counts as if it had a value.
        assert not has_more_values(data, 2 * number)


@pytest.mark.parametrize("data", [b"", b'"', b'{"a', b"]]]", b'{"a":"\\', b"\\", b'"\\"'])
def test_what_is_no_json_is_counted_without_an_error(data: bytes) -> None:
    assert outline(data).inner == 1
