"""A plain row gives the case that the long way round would give, or none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.eval_cases.cases import CaseBuilder
from steelyard.contracts.eval_cases.defaults import Defaults
from steelyard.contracts.eval_cases.plain_cases import PlainCases
from steelyard.contracts.eval_cases.writer import case_row
from steelyard.contracts.schemas import load_schema
from steelyard.formats.schema import Schema
from steelyard.model.case import Case, Place
from steelyard.model.dataset import Dataset
from steelyard.model.evaluator import Evaluator
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.eval_cases import KnownFiles, datasets

MESSAGE = Schema(load_schema("eval_cases"), "#/$defs/message")
PLACE = Place(file="a.jsonl", line=3, index=2)
DEFAULTS = Defaults(
    dataset="d",
    target="t",
    evaluator="code_judge",
    evaluators=(Evaluator(name="e", type="is_json"),),
    metadata={},
    extra={},
)
PLAIN: JsonObject = {"id": "a", "input_messages": [{"role": "user", "content": "Hi"}]}
WEEKS: JsonObject = {"name": "weeks", "type": "contains", "value": "three weeks"}


def built(row: JsonObject) -> Case:
    """The case that the builder makes, whatever the row."""
    return CaseBuilder(row, DEFAULTS, KnownFiles(), MESSAGE).case(PLACE)


def with_evaluator(entry: JsonObject) -> JsonObject:
    return {**PLAIN, "evaluators": [entry]}


def plain(*rows: JsonObject) -> list[Case | None]:
    cases = PlainCases()
    return [cases.case(row, DEFAULTS, PLACE) for row in rows]


@given(datasets())
def test_rows_of_every_form_give_the_case_of_the_builder_or_none(dataset: Dataset) -> None:
    rows = [case_row(case) for case in dataset.cases]

    for row, case in zip(rows, plain(*rows), strict=True):
        assert case is None or (case, repr(case)) == (built(row), repr(built(row)))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"expected_outcome": "greets"},
        {"tags": ["x", "y"], "metadata": {"a": [1]}, "conversation_id": "c"},
        {"evaluators": [WEEKS]},
        {"evaluators": []},
        {"evaluators": ["is kind", WEEKS, "is brief"]},
        {
            "evaluators": [
                {"name": "j", "type": "llm-grader", "prompt": "Is {{ candidate_answer }} good?"}
            ]
        },
        {"input_messages": []},
        {"input_messages": [{"role": "system", "content": ""}, {"role": "user", "content": "é"}]},
        {"expected_messages": [{"role": "assistant", "content": "Ho"}]},
        {"expected_output": "Ho", "outcome": "greets"},
        {"assert": [WEEKS], "criteria": "greets", "notes": ["for people"], "suite": 1},
    ],
)
def test_a_row_of_texts_is_plain(more: JsonObject) -> None:
    row = {**PLAIN, **more}

    assert plain(row) == [built(row)]


@pytest.mark.parametrize("said", ["Hi", [{"role": "user", "content": "Hi"}]])
def test_the_input_may_be_a_text_or_messages(said: JsonValue) -> None:
    row: JsonObject = {"id": "a", "input": said, "assertions": [WEEKS]}

    assert plain(row) == [built(row)]


def test_what_a_file_puts_before_every_input_is_not_left_out() -> None:
    for defaults in (replace(DEFAULTS, input="Hello."), replace(DEFAULTS, input_files=("a.md",))):
        assert PlainCases().case(PLAIN, defaults, PLACE) is None


@pytest.mark.parametrize(
    "more",
    [
        {"execution": {"target": "x"}},
        {"rubrics": ["is kind"]},
        {"expected_messages": [{"role": "assistant", "content": [{"type": "text"}]}]},
        {"expected_output": {"a": 1}},
        {"evaluator": "is_json"},
        {"x_other": 1},
        {"input_messages": ["Hi"]},
        {"input_messages": [{"role": "user", "content": [{"type": "text", "value": "Hi"}]}]},
        {"input_messages": [{"role": "user", "content": "Hi", "name": "ann"}]},
        {"input_messages": [{"role": "user", "content": None}]},
        {"input_messages": [{"role": "user"}]},
        {"evaluators": [{"name": "j", "type": "llm_judge", "prompt": "judge.md"}]},
        {"evaluators": [{**WEEKS, "value": "\ud800"}]},
        {"evaluators": [{"name": "t", "type": "token_usage", "max_output": 10**20}]},
    ],
)
def test_whatever_else_a_row_holds_it_is_not(more: JsonObject) -> None:
    assert plain({**PLAIN, **more}) == [None]


def test_the_same_list_of_evaluators_is_built_once() -> None:
    first, second = plain(*(with_evaluator(dict(WEEKS)) for _ in range(2)))

    assert first is not None
    assert second is not None
    assert first.evaluators is second.evaluators


@given(st.lists(st.sampled_from([1, 1.0, True, 0, 0.0, -0.0, False, "1", None]), min_size=2))
def test_settings_that_only_python_takes_for_the_same_stay_apart(values: list[Any]) -> None:
    rows = [with_evaluator({**WEEKS, "value": value}) for value in values]

    assert repr(plain(*rows)) == repr([built(row) for row in rows])


def test_a_list_that_cannot_be_built_without_files_is_not_taken_for_the_one_before() -> None:
    judged: JsonObject = {"name": "j", "type": "llm_judge", "prompt": "judge.md"}
    rows = [with_evaluator(entry) for entry in (WEEKS, judged, judged, WEEKS)]

    assert [case is None for case in plain(*rows)] == [False, True, True, False]
