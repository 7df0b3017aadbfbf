"""JSON values of any shape, and values with parts exchanged for them, for hypothesis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from hypothesis import strategies as st

from steelyard.model.json_value import JsonObject, JsonValue, Path

TEXTS = st.text(max_size=8)
_NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
_ODD = st.sampled_from(["", " ", "\ud800", "\0", "{}", "{{", "a@1.0", "rubric/a@1.0", "1.0"])
_LEAVES = cast("st.SearchStrategy[JsonValue]", st.none() | st.booleans() | _NUMBERS | TEXTS | _ODD)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
"""Any JSON value."""


def places(value: JsonValue, path: Path = ()) -> Iterator[Path]:
    """Every path of a value, its own included."""
    yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


def put(value: JsonValue, path: Path, new: JsonValue) -> JsonValue:
    """The same value with another one at a path."""
    if not path:
        return new
    first, *rest = path
    if isinstance(value, list):
        return [
            put(item, tuple(rest), new) if n == first else item for n, item in enumerate(value)
        ]
    members = cast(JsonObject, value)
    return {
        name: put(item, tuple(rest), new) if name == first else item
        for name, item in members.items()
    }


@st.composite
def spoilt(draw: st.DrawFn, value: JsonValue) -> JsonValue:
    """A value in which up to three parts are exchanged for something else."""
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(places(value))))
        value = put(value, path, draw(VALUES))
    return value
