"""Unknown names are looked up once for values of one shape, and every other shape anew."""

from __future__ import annotations

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.contracts import SCHEMAS
from steelyard.formats.problem import Problem
from steelyard.formats.schema import Schema
from steelyard.formats.schema_shapes import Shapes
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.effort import examples
from unit.formats.test_schema import CASE, mutate

PICTURE: JsonObject = {"type": "image_url", "image_url": {"url": "a.png"}}
SHARED = Schema(SCHEMAS.load("eval_cases"), "#/$defs/case")
"""One that knows the shapes of all examples before."""


def case_with(*blocks: JsonValue) -> JsonObject:
    return copy.deepcopy({**CASE, "input_messages": [{"role": "user", "content": [*blocks]}]})


@settings(max_examples=examples(300))
@given(st.data())
def test_what_is_known_of_shapes_changes_no_answer(data: st.DataObject) -> None:
    case = case_with(PICTURE, {"type": "text", "value": "What is it?"})
    for _ in range(data.draw(st.integers(0, 3))):
        if case:
            mutate(data, case)
    fresh = Schema(SCHEMAS.load("eval_cases"), "#/$defs/case")

    assert SHARED.problems(case) == fresh.problems(case)


def test_values_of_one_shape_are_looked_at_once() -> None:
    looked: list[JsonValue] = []

    def look(value: JsonValue) -> list[Problem]:
        looked.append(value)
        return []

    shapes = Shapes(SCHEMAS.load("eval_cases"))
    cases = [case_with({**PICTURE, "image_url": {"url": f"{name}.png"}}) for name in "abc"]

    assert [shapes.problems(case, look) for case in (*cases, CASE)] == [[]] * 4
    assert looked == [cases[0], CASE]


def test_a_shape_with_a_problem_is_looked_at_each_time() -> None:
    misspelt = {**CASE, "metadatta": {}}

    assert [len(SHARED.problems(misspelt)) for _ in range(3)] == [1, 1, 1]
