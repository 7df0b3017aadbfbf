"""A value looked at by the branches of its type alone is clean where the whole schema says so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.contracts.schemas import load_schema
from steelyard.formats.schema import Schema
from steelyard.formats.schema_by_type import SchemaByType
from strategies.effort import examples

DOCUMENT = load_schema("eval_cases")
WHOLE = Schema(DOCUMENT, "#/$defs/evaluator")
BY_TYPE = SchemaByType(DOCUMENT, "evaluator")


def kinds() -> list[str]:
    """Every spelling of every type of evaluator."""
    definitions: Any = DOCUMENT["$defs"]
    return definitions["evaluator_kind"]["enum"]


def settings_of_all() -> list[str]:
    """The names of the settings of any type, and of none."""
    definitions: Any = DOCUMENT["$defs"]
    evaluator = definitions["evaluator"]
    branches = [branch["then"].get("properties", {}) for branch in evaluator["allOf"]]
    return sorted({name for one in (evaluator["properties"], *branches) for name in one} | {"x"})


LISTS = st.lists(st.sampled_from(["", " ", "a", 1]), max_size=2)
VALUES = st.one_of(
    st.sampled_from([None, True, False, 0, 1, 0.5, 2, -1, "", " ", "a", "i", "exact", "in_order"]),
    LISTS,
    st.just([{"type": "contains", "value": "a"}]),
    st.just([{"type": "contains", "value": ""}]),
    st.just([{"tool": "t"}]),
    st.just({"type": "weighted_average"}),
    st.just({"type": "nothing"}),
    st.just({}),
)


def entry_of(kind: Any, settings: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, **settings}


ENTRIES = st.builds(
    entry_of,
    st.sampled_from([*kinds(), "unknown", 1, None]),
    st.dictionaries(st.sampled_from(settings_of_all()).filter("type".__ne__), VALUES, max_size=4),
)


@given(ENTRIES)
@settings(max_examples=examples(1000))
def test_what_the_branches_of_a_type_say_is_what_all_say(entry: dict[str, Any]) -> None:
    assert BY_TYPE.is_clean(entry) is WHOLE.is_clean(entry)


@pytest.mark.parametrize("kind", kinds())
def test_every_setting_of_every_type_is_looked_at(kind: str) -> None:
    values: list[Any] = ["a", 0.5, 5, True, ["a"], {}, [], "", {"type": "contains"}, None]
    for base in ({}, {"value": "a"}, {"value": ["a"]}, {"threshold": 1}, {"script": "a"}):
        for name in settings_of_all():
            for value in values:
                entry: dict[str, Any] = {**base, name: value, "type": kind}

                assert BY_TYPE.is_clean(entry) is WHOLE.is_clean(entry), entry


@pytest.mark.parametrize("value", ["Is polite.", " ", None, 1, [], {}, {"name": "a"}])
def test_what_has_no_type_is_looked_at_by_the_whole_schema(value: Any) -> None:
    assert BY_TYPE.is_clean(value) is WHOLE.is_clean(value)
