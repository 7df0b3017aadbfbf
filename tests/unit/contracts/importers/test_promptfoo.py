"""promptfoo configurations: pairs of prompts and tests, templates, assertions."""

from __future__ import annotations

import pytest
from hypothesis import given

from steelyard.contracts.importers.promptfoo import (
    checked_config,
    import_promptfoo,
    unread_config,
)
from steelyard.contracts.importers.source_row import Imported
from steelyard.errors import ParseError
from steelyard.model.conversion import Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.eval_cases import json_values


def rows(config: JsonObject) -> list[JsonObject]:
    return [found.row for found in import_promptfoo(config) if isinstance(found, Imported)]


def refusals(config: JsonObject) -> list[Refusal]:
    return [found for found in import_promptfoo(config) if isinstance(found, Refusal)]


def asked(prompt: JsonValue, **test: JsonValue) -> JsonValue:
    (row,) = rows({"prompts": [prompt], "tests": [test]})
    return row["input_messages"]


def graded(*assertions: JsonValue, **test: JsonValue) -> Imported:
    config: JsonObject = {"prompts": "Hi", "tests": [{"assert": list(assertions), **test}]}
    (only,) = import_promptfoo(config)
    assert isinstance(only, Imported)
    return only


def test_every_prompt_meets_every_test() -> None:
    config: JsonObject = {
        "prompts": ["A {{x}}", "B {{x}}"],
        "tests": [{"vars": {"x": 1}}, {"vars": {"x": "two"}}],
    }
    texts = [row["input_messages"] for row in rows(config)]

    assert texts == [
        [{"role": "user", "content": text}] for text in ("A 1", "B 1", "A two", "B two")
    ]
    assert len({str(row["id"]) for row in rows(config)}) == 4


def test_ids_do_not_depend_on_the_order_of_prompts_and_tests() -> None:
    prompts: list[JsonValue] = ["A {{x}}", "B {{x}}"]
    tests: list[JsonValue] = [{"vars": {"x": 1}}, {"vars": {"x": 2}, "description": "d"}]
    turned: JsonObject = {"prompts": prompts[::-1], "tests": tests[::-1]}

    assert {str(row["id"]) for row in rows(turned)} == {
        str(row["id"]) for row in rows({"prompts": prompts, "tests": tests})
    }


def test_a_list_under_a_variable_is_one_case_for_each_item() -> None:
    config: JsonObject = {
        "prompts": ["{{a}} {{b}}"],
        "tests": [{"vars": {"a": ["1", "2"], "b": ["x", "y"]}}],
    }
    messages = [row["input_messages"] for row in rows(config)]

    assert [
        m[0]["content"] for m in messages if isinstance(m, list) and isinstance(m[0], dict)
    ] == [
        "1 x",
        "1 y",
        "2 x",
        "2 y",
    ]


@pytest.mark.parametrize(
    ("prompt", "variables", "text"),
    [
        ("Hi {{ name }}!", {"name": "Ann"}, "Hi Ann!"),
        ("{{user.name}}", {"user": {"name": "Ann"}}, "Ann"),
        ("{{data}}", {"data": {"a": 1}}, '{"a": 1}'),
        ("[not json {{x}}", {"x": 1}, "[not json 1"),
        ("[1, 2]", {}, "[1, 2]"),
        ({"raw": "R {{x}}", "label": "l"}, {"x": 1}, "R 1"),
        ({"id": "I {{x}}"}, {"x": 1}, "I 1"),
    ],
)
def test_variables_are_filled_in(prompt: JsonValue, variables: JsonObject, text: str) -> None:
    assert asked(prompt, vars=variables) == [{"role": "user", "content": text}]


def test_a_prompt_written_as_chat_messages_is_a_conversation() -> None:
    prompt = '[{"role": "system", "content": "Be {{t}}"}, {"role": "user", "content": "{{q}}"}]'

    assert asked(prompt, vars={"t": "kind", "q": 'Say "hi"'}) == [
        {"role": "system", "content": "Be kind"},
        {"role": "user", "content": 'Say "hi"'},
    ]


def test_what_the_configuration_says_for_all_tests_is_merged() -> None:
    config: JsonObject = {
        "prompts": ["{{a}}{{b}}"],
        "defaultTest": {
            "vars": {"a": "x", "b": "y"},
            "assert": [{"type": "is-json"}],
            "metadata": {"team": "t"},
        },
        "tests": [{"vars": {"b": "z"}, "assert": [{"type": "latency", "threshold": 5}]}],
    }
    (row,) = rows(config)

    assert row["input_messages"] == [{"role": "user", "content": "xz"}]
    assert row["evaluators"] == [
        {"type": "is-json", "required": True},
        {"type": "latency", "threshold": 5, "required": True},
    ]
    assert row["metadata"] == {"team": "t"}


@pytest.mark.parametrize(
    ("assertion", "evaluator"),
    [
        ({"type": "equals", "value": "4"}, {"type": "equals", "value": "4"}),
        ({"type": "equals", "value": 4}, {"type": "equals", "value": "4"}),
        ({"type": "contains", "value": "{{x}}!"}, {"type": "contains", "value": "1!"}),
        ({"type": "icontains", "value": "a"}, {"type": "icontains", "value": "a"}),
        ({"type": "starts-with", "value": "a"}, {"type": "starts-with", "value": "a"}),
        ({"type": "regex", "value": "a+"}, {"type": "regex", "value": "a+"}),
        (
            {"type": "contains-any", "value": ["a", 1]},
            {"type": "contains-any", "value": ["a", "1"]},
        ),
        ({"type": "contains-all", "value": "a, b"}, {"type": "contains-all", "value": ["a", "b"]}),
        ({"type": "icontains-any", "value": ["a"]}, {"type": "icontains-any", "value": ["a"]}),
        ({"type": "icontains-all", "value": ["a"]}, {"type": "icontains-all", "value": ["a"]}),
        ({"type": "is-json"}, {"type": "is-json"}),
        ({"type": "latency", "threshold": 9}, {"type": "latency", "threshold": 9}),
        ({"type": "cost", "threshold": 0.1}, {"type": "cost", "budget": 0.1}),
        ({"type": "llm-rubric", "value": "is kind"}, {"type": "llm_judge", "value": "is kind"}),
        (
            {"type": "llm-rubric", "value": "is kind", "threshold": 0.8},
            {"type": "llm_judge", "value": "is kind", "threshold": 0.8},
        ),
        (
            {"type": "not-contains", "value": "a", "weight": 2, "metric": "m"},
            {"name": "m", "type": "contains", "value": "a", "weight": 2, "negate": True},
        ),
    ],
)
def test_an_assertion_becomes_the_evaluator_that_looks_for_the_same(
    assertion: JsonObject, evaluator: JsonObject
) -> None:
    row, changes = graded(assertion, vars={"x": 1})

    assert row["evaluators"] == [{**evaluator, "required": True}]
    assert changes == ()


def test_a_threshold_of_the_test_makes_no_assertion_required_and_is_reported() -> None:
    row, changes = graded({"type": "equals", "value": "a"}, threshold=0.5)

    assert row["evaluators"] == [{"type": "equals", "value": "a"}]
    assert [change.field for change in changes] == ["threshold"]


def test_an_assertion_without_weight_gates_nothing() -> None:
    row, _ = graded({"type": "equals", "value": "a", "weight": 0})

    assert row["evaluators"] == [{"type": "equals", "value": "a", "weight": 0}]


@pytest.mark.parametrize(
    ("assertion", "field", "told"),
    [
        ({"type": "javascript", "value": "1"}, "assert: javascript", "no evaluator stands for it"),
        ({"type": "equals", "value": {"a": 1}}, "assert: equals", "must be a text"),
        ({"type": "contains-any", "value": []}, "assert: contains-any", "must be a list of texts"),
        ({"type": "is-json", "value": {}}, "assert: is-json", "a schema cannot be carried over"),
        ({"type": "cost", "threshold": True}, "assert: cost", "its threshold must be a number"),
        ({"type": "latency"}, "assert: latency", "its threshold must be a number"),
        (
            {"type": "contains", "value": "file://x"},
            "assert: contains",
            "its value is in a file: file://x",
        ),
        ({"type": "contains", "value": "{{ y }}"}, "assert: contains", "no variable 'y'"),
        ("text", "assert: assertion", "must be an object with a type"),
        ({"value": "x"}, "assert: None", "must be an object with a type"),
    ],
)
def test_an_assertion_that_cannot_be_carried_is_reported(
    assertion: JsonValue, field: str, told: str
) -> None:
    row, changes = graded(assertion)

    assert row["evaluators"] == []
    assert [change.field for change in changes] == [field, "grading"]
    assert told in changes[0].message


def test_settings_that_an_evaluator_lacks_are_reported() -> None:
    _, changes = graded({"type": "llm-rubric", "value": "v", "provider": "p"}, options={"a": 1})

    assert [change.field for change in changes] == ["assert.provider", "tests.options.a"]


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("file://prompts/a.txt", "a prompt in another file is not read"),
        ("prompts/a.json", "in place of prompts/a.json"),
        (7, "a prompt must be a text, not 7"),
        ({"label": "x"}, "a prompt must be a text"),
        ("{% if x %}a{% endif %}", "only {{ variable }} can be filled in"),
        ("Hi {{- x }}", "only {{ variable }} can be filled in"),
        ("{{ x | upper }}", "only {{ variable }} can be filled in"),
        ("{{ unknown }}", "no variable 'unknown'"),
        ("{{ x.y }}", "no variable 'x.y'"),
    ],
)
def test_a_prompt_that_cannot_be_carried_leaves_its_cases_out(
    prompt: JsonValue, told: str
) -> None:
    (refusal,) = refusals({"prompts": [prompt], "tests": [{"vars": {"x": 1}}]})

    assert refusal.outcome == "left_out"
    assert told in refusal.reason


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"x": "file://a.txt"}, "variable 'x' is in another file"),
        ({"x": "{{ y }}"}, "variable 'x' is a template itself"),
    ],
)
def test_a_variable_that_is_not_its_own_text_leaves_the_case_out(
    variables: JsonObject, told: str
) -> None:
    (refusal,) = refusals({"prompts": ["{{x}}"], "tests": [{"vars": variables}]})

    assert told in refusal.reason


def test_tests_in_another_file_are_left_out() -> None:
    (refusal,) = refusals({"prompts": ["a"], "tests": "file://tests.yaml"})

    assert refusal.outcome == "left_out"
    assert "file://tests.yaml" in refusal.reason


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ([], "the top level must be an object"),
        ({"tests": []}, "there is no 'prompts'"),
        ({"prompts": []}, "there is no 'tests'"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(config: JsonValue, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        checked_config(config)


def test_what_a_configuration_says_beside_prompts_and_tests_is_reported() -> None:
    config: JsonObject = {"prompts": [], "tests": [], "description": "d", "providers": ["p"]}

    assert [change.field for change in unread_config(config)] == ["providers"]


@given(json_values, json_values, json_values)
def test_any_configuration_gives_cases_or_reasons(
    prompts: JsonValue, tests: JsonValue, default: JsonValue
) -> None:
    config: JsonObject = {"prompts": prompts, "tests": tests, "defaultTest": default}
    test: JsonObject = {"prompts": ["a"], "tests": [{"assert": tests, "vars": prompts}]}

    for each in (config, test):
        assert all(isinstance(found, Imported | Refusal) for found in import_promptfoo(each))
