"""Fields of a YAML file that get other values, while everything else stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.formats.yaml_fields import with_fields
from steelyard.formats.yaml_text import parse_yaml
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.json_value import JsonObject, JsonValue

_TEXTS = st.text(alphabet="ab1 :#-\n'\"{}[],|>&*%@", max_size=12)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=5,
)
NEW: JsonObject = {"validation": {"tpr": 0.9}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("id: a\n", "id: a\nvalidation:\n  tpr: 0.9\n"),
        ("id: a", "id: a\nvalidation:\n  tpr: 0.9\n"),
        ("id: a\r\n", "id: a\r\nvalidation:\r\n  tpr: 0.9\r\n"),
        (
            "# top\nvalidation: {tpr: 0.5}  # old\n\n# next\nid: a\n",
            "# top\nvalidation:\n  tpr: 0.9\n\n# next\nid: a\n",
        ),
        (
            "validation:\n  tpr: 0.5\n\n  # why\n  tnr: 0.4\n\nid: a\n",
            "validation:\n  tpr: 0.9\n\nid: a\n",
        ),
        ("'validation' :\n- 1\n- 2\nid: a\n", "validation:\n  tpr: 0.9\nid: a\n"),
        (
            "text: |\n  validation: no\n\nid: a\n",
            "text: |\n  validation: no\n\nid: a\nvalidation:\n  tpr: 0.9\n",
        ),
        ("---\nid: a\n...\n", "---\nid: a\nvalidation:\n  tpr: 0.9\n...\n"),
        ("validation:\nid: a\n", "validation:\n  tpr: 0.9\nid: a\n"),
    ],
)
def test_a_field_is_set_and_all_else_is_as_it_was(before: str, after: str) -> None:
    assert with_fields(before.encode(), NEW) == after.encode()


@pytest.mark.parametrize(
    "text",
    [
        "{id: a}\n",
        "- 1\n",
        "validation:\n  a: 1\n# at the edge\n  b: 2\nid: a\n",
        "id: 'a\n",
        "id: &a 1\nvalidation: &b {x: 1}\nother: *b\n",
    ],
)
def test_what_would_need_a_rewrite_is_left_alone(text: str) -> None:
    assert with_fields(text.encode(), NEW) is None


@given(VALUES, VALUES)
def test_whatever_is_set_is_read_back(old: JsonValue, new: JsonValue) -> None:
    data = write_yaml({"first": old, "validation": old, "last": old})
    made = with_fields(data, {"validation": new, "more": new})

    assert made is not None
    assert parse_yaml(made).value == {
        "first": old,
        "validation": new,
        "last": old,
        "more": new,
    }
