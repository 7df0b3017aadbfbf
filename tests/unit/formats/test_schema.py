from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, cast

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.contracts import SCHEMAS
from steelyard.formats.problem import Problem
from steelyard.formats.schema import BLANK, Schema, spoken
from steelyard.formats.schema_names import resolve, unknown_names
from steelyard.model.json_value import JsonObject, JsonValue, Path
from strategies.effort import examples

CASE: JsonObject = {
    "id": "opening-hours",
    "expected_outcome": "Says when the library opens.",
    "conversation_id": "c-1",
    "input_messages": [
        {"role": "system", "content": "Be brief.", "name": "rules"},
        {
            "role": "user",
            "content": [
                "See the file.",
                {"type": "text", "value": "When do you open?"},
                {"type": "file", "value": "rules.md"},
                {"type": "image", "value": "x.png"},
            ],
        },
    ],
    "expected_messages": [
        {
            "role": "assistant",
            "tool_calls": [{"tool": "calendar", "input": {"day": "Mon"}, "output": 9, "id": "1"}],
        },
        {"role": "assistant", "content": {"opens": 9}},
    ],
    "execution": {"target": "live"},
    "evaluators": [
        "mentions nine o'clock",
        {"type": "llm_judge", "name": "tone", "weight": 2, "prompt": "Is it polite?"},
        {"type": "latency", "threshold": 500},
        {"type": "token_usage", "max_total": 100},
        {"type": "field_accuracy", "fields": [{"path": "a.b", "match": "exact"}]},
        {"type": "tool_trajectory", "mode": "any_order", "minimums": {"calendar": 1}},
        {
            "type": "composite",
            "aggregator": {"type": "weighted_average", "weights": {"cost": 0.5}},
            "assertions": [{"type": "cost", "budget": 1.5}, {"type": "regex", "value": "x+"}],
        },
    ],
    "rubrics": ["polite", {"id": "r", "description": "short", "weight": 1, "required": True}],
    "tags": ["hours"],
    "metadata": {"idd": 1, "anything": {"goes": []}},
}
RECORD: JsonObject = {
    "record_id": "r-1",
    "input": {"prompt": "When do you open?"},
    "reference": {"answer": "At nine."},
    "tags": ["hours", "easy"],
    "expected": {"max_latency_ms": 2000, "required_criteria": ["accuracy", "clarity"]},
    "metadata": {"topic": "hours", "deep": {"list": [1, None]}},
}


def problem_of(rule: JsonObject, value: JsonValue) -> Problem:
    """What the rule for a field `f` has to say about its value."""
    schema = Schema({"type": "object", "properties": {"f": rule}})
    problems = schema.problems({"f": value})
    assert len(problems) == 1
    return problems[0]


def case_problems(**changes: JsonValue) -> list[Problem]:
    case: JsonObject = {"id": "a", "input": "hi", "criteria": "greets", **changes}
    present: JsonObject = {name: value for name, value in case.items() if value is not None}
    return Schema(SCHEMAS.load("eval_cases"), "#/$defs/case").problems(present)


# --- every keyword: code, path, message


@pytest.mark.parametrize(
    ("rule", "value", "code", "message"),
    [
        ({"type": "string"}, 1, "invalid_field_type", "f must be a string"),
        ({"type": "integer"}, 1.5, "invalid_field_type", "f must be an integer"),
        ({"type": "integer"}, True, "invalid_field_type", "f must be an integer"),
        ({"type": "number"}, "1", "invalid_field_type", "f must be a number"),
        ({"type": "boolean"}, 1, "invalid_field_type", "f must be true or false"),
        ({"type": "array"}, {}, "invalid_field_type", "f must be an array"),
        ({"type": "object"}, [], "invalid_field_type", "f must be an object"),
        ({"type": "null"}, 0, "invalid_field_type", "f must be null"),
        (
            {"type": ["object", "array", "string"]},
            1,
            "invalid_field_type",
            "f must be a string, an array or an object",
        ),
        (
            {"enum": ["in", "out"]},
            "x",
            "invalid_enum_value",
            "f must be in or out, not 'x'",
        ),
        ({"enum": ["1.0"]}, 1.0, "invalid_enum_value", "f must be 1.0, not 1.0"),
        ({"enum": [1, None]}, True, "invalid_enum_value", "f must be 1 or null, not true"),
        ({"const": "a"}, {"a": None}, "invalid_enum_value", "f must be 'a', not {\"a\": null}"),
        ({"const": "a"}, "b", "invalid_enum_value", "f must be 'a', not 'b'"),
        ({"pattern": "\\S"}, " \n", "value_out_of_range", "f must not be blank"),
        ({"pattern": "^[a-z]+$"}, "A", "value_out_of_range", "f must match ^[a-z]+$"),
        ({"minLength": 1}, "", "value_out_of_range", "f must have at least 1 character(s)"),
        ({"maxLength": 2}, "abc", "string_too_long", "f must have at most 2 characters"),
        ({"minItems": 1}, [], "value_out_of_range", "f must have at least 1 item(s)"),
        (
            {"uniqueItems": True},
            [1, 2, 1],
            "value_out_of_range",
            "f must not have the same item twice",
        ),
        ({"maxItems": 1}, [1, 2], "value_out_of_range", "f must have at most 1 items"),
        ({"minProperties": 1}, {}, "value_out_of_range", "f must have at least 1 field(s)"),
        ({"minimum": 1}, 0, "value_out_of_range", "f must be at least 1"),
        ({"minimum": 0}, -0.5, "value_out_of_range", "f must be at least 0"),
        ({"maximum": 120000}, 120001, "value_out_of_range", "f must be at most 120,000"),
        ({"maximum": 1}, 10**400, "value_out_of_range", "f must be at most 1"),
        ({"exclusiveMinimum": 0}, 0, "value_out_of_range", "f must be more than 0"),
    ],
)
def test_a_broken_rule_is_a_problem_at_its_field(
    rule: JsonObject, value: JsonValue, code: str, message: str
) -> None:
    problem = problem_of(rule, value)

    assert (problem.code, problem.path, spoken(problem)) == (code, ("f",), message)
    assert problem.severity == "error"


def test_characters_are_counted_not_bytes() -> None:
    schema = Schema({"type": "string", "maxLength": 2})

    assert schema.problems("é😀") == []


def test_a_missing_field_is_reported_where_it_should_stand() -> None:
    schema = Schema({"type": "array", "items": {"required": ["a", "b"]}})

    problems = schema.problems([{"a": 1}, {}])

    assert [(item.code, item.path, spoken(item)) for item in problems] == [
        ("missing_required_field", (0, "b"), "missing [0].b"),
        ("missing_required_field", (1, "a"), "missing [1].a"),
        ("missing_required_field", (1, "b"), "missing [1].b"),
    ]


def test_a_closed_object_refuses_each_unknown_field_with_a_hint() -> None:
    value: JsonValue = {"record_id": "a", "input": {"prompt": "x"}, "tag": [], "colour": 1}

    problems = Schema(SCHEMAS.load("dataset_document"), "#/$defs/record").problems(value)

    assert [(item.code, item.path, item.hint, spoken(item)) for item in problems] == [
        ("unsupported_field", ("colour",), None, "colour is not a field of this contract"),
        (
            "unsupported_field",
            ("tag",),
            "did you mean 'tags'?",
            "tag is not a field of this contract",
        ),
    ]


def test_a_closed_object_deep_inside_knows_its_own_names() -> None:
    value: JsonValue = {**RECORD, "expected": {"max_latency": 5, "prompt": 1}}

    problems = Schema(SCHEMAS.load("dataset_document"), "#/$defs/record").problems(value)

    assert [(item.path, item.hint) for item in problems] == [
        (("expected", "max_latency"), None),
        (("expected", "prompt"), None),
    ]


def test_a_field_of_a_closed_object_is_compared_with_its_siblings() -> None:
    value: JsonValue = {**RECORD, "expected": {"max_latency_m": 5}}

    problems = Schema(SCHEMAS.load("dataset_document"), "#/$defs/record").problems(value)

    assert problems[0].hint == "did you mean 'max_latency_ms'?"


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ({"kind": 5}, ["invalid_field_type"]),
        ({"kind": "c"}, ["invalid_enum_value"]),
        ({"old": []}, ["unsupported_field"]),
        ({"old": [7]}, ["unsupported_field"]),
        ({"old": [7], "kind": 5}, ["invalid_field_type", "unsupported_field"]),
    ],
)
def test_one_mistake_is_told_once(value: JsonObject, codes: list[str]) -> None:
    old: JsonObject = {"type": "array", "minItems": 2, "items": {"type": "string"}}
    unwanted: JsonObject = {"old": {"not": {}, "x-instead": "use new"}}
    document: JsonObject = {
        "type": "object",
        "properties": {"kind": {"type": "string", "enum": ["a", "b"]}, "old": old},
        "allOf": [{"properties": unwanted}],
    }

    assert [problem.code for problem in Schema(document).problems(value)] == codes


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u00a0", "\ufeff", " \ufeff ", BLANK])
def test_a_text_of_white_space_alone_is_called_blank(blank: str) -> None:
    schema = Schema({"type": "string", "pattern": "\\S"})

    assert [problem.message for problem in schema.problems(blank)] == ["{} must not be blank"]
    assert not schema.is_clean(blank)


@pytest.mark.parametrize("text", ["\x85", "\x1f", "\u200b", "\ufeffa"])
def test_other_characters_that_show_nothing_are_text(text: str) -> None:
    assert text.strip(BLANK)
    assert Schema({"type": "string", "pattern": "\\S"}).problems(text) == []


def test_a_long_list_of_options_is_cut() -> None:
    problem = problem_of({"enum": list("abcdefghij")}, "x")

    assert spoken(problem) == "f must be a, b, c, d, e, f, g, h or 2 more, not 'x'"


def test_a_misspelt_option_has_a_hint() -> None:
    problem = case_problems(evaluator="llm_jugde")[0]

    assert (problem.code, problem.hint) == ("invalid_enum_value", "did you mean 'llm_judge'?")


def test_a_long_value_is_cut_in_the_message() -> None:
    problem = problem_of({"enum": ["a"]}, "x" * 1000)

    assert spoken(problem) == f"f must be a, not '{'x' * 36}..."


@pytest.mark.parametrize(
    ("changes", "code", "path", "message"),
    [
        ({"criteria": None}, "missing_required_field", ("expected_outcome",), "missing {}"),
        ({"input": None}, "missing_required_field", ("input_messages",), "missing {}"),
        (
            {"outcome": "x"},
            "conflicting_fields",
            ("criteria",),
            "{} is another spelling of outcome; keep one of them",
        ),
        (
            {"evaluators": ["x"], "assert": ["y"]},
            "conflicting_fields",
            ("assert",),
            "{} is another spelling of evaluators; keep one of them",
        ),
        ({"vars": {"x": 1}}, "unsupported_field", ("vars",), "{} is not supported"),
        (
            {"evaluators": [{"type": "code_judge"}]},
            "missing_required_field",
            ("evaluators", 0, "script"),
            "missing {}",
        ),
        (
            {"evaluators": [{"type": "latency"}]},
            "missing_required_field",
            ("evaluators", 0, "threshold"),
            "missing {}",
        ),
        (
            {"evaluators": [{"type": "tool_trajectory", "mode": "exact"}]},
            "missing_required_field",
            ("evaluators", 0, "expected"),
            "missing {}",
        ),
        (
            {"rubrics": [{"id": "r"}]},
            "missing_required_field",
            ("rubrics", 0, "description"),
            "missing {}",
        ),
        (
            {"evaluators": [{"type": "llm_judge", "model": "m"}]},
            "unsupported_field",
            ("evaluators", 0, "model"),
            "{} is not supported",
        ),
    ],
)
def test_an_annotated_rule_says_what_its_failure_means(
    changes: dict[str, JsonValue], code: str, path: Path, message: str
) -> None:
    problems = case_problems(**changes)

    assert [(item.code, item.path, item.message) for item in problems] == [(code, path, message)]


def test_an_unsupported_field_says_what_to_do_instead() -> None:
    assert case_problems(vars={})[0].hint == "write the values into 'input'"


def test_all_problems_of_a_value_are_listed_in_path_order() -> None:
    problems = case_problems(id=" ", tags=[1, "a", 2], evaluators=[{"type": "cost", "budgt": 1}])

    assert [item.path for item in problems] == [
        ("evaluators", 0, "budget"),
        ("evaluators", 0, "budgt"),
        ("id",),
        ("tags", 0),
        ("tags", 2),
    ]


# --- near misses


@pytest.mark.parametrize(
    ("changes", "path", "hint"),
    [
        ({"conversation-id": "x"}, ("conversation-id",), "did you mean 'conversation_id'?"),
        ({"expected_outputs": "x"}, ("expected_outputs",), "did you mean 'expected_output'?"),
        (
            {"input": [{"role": "user", "content": "x", "nmae": "y"}]},
            ("input", 0, "nmae"),
            "did you mean 'name'?",
        ),
        (
            {"evaluators": [{"type": "llm_judge", "promt": "x"}]},
            ("evaluators", 0, "promt"),
            "did you mean 'prompt'?",
        ),
    ],
)
def test_a_name_near_a_known_one_is_a_warning(
    changes: dict[str, JsonValue], path: Path, hint: str
) -> None:
    problems = case_problems(**changes)

    assert [(item.severity, item.code, item.path, item.hint) for item in problems] == [
        ("warning", "unknown_field", path, hint)
    ]
    assert spoken(problems[0]) == f"unknown field '{path[-1]}'"


@pytest.mark.parametrize(
    "changes",
    [
        {"colour": "blue"},
        {"metadata": {"idd": 1, "tag": 2}},
        {"evaluators": [{"type": "code_judge", "script": "x", "promt": "x"}]},
        {"evaluators": [{"type": "is_json", "notes": "x", "x-promt": "x"}]},
        {"input": [{"role": "user", "content": {"rol": 1}}]},
    ],
)
def test_a_strange_name_is_no_problem_where_the_contract_is_open(
    changes: dict[str, JsonValue],
) -> None:
    assert case_problems(**changes) == []


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        (
            {"type": "is_json", "promt": "x"},
            "known here: min_score, name, negate, required, type and weight",
        ),
        ({"type": "contains", "value": "x", "flags": "i"}, "'flags' is a setting of regex"),
    ],
)
def test_a_name_that_the_kind_does_not_own_is_told(entry: JsonObject, hint: str) -> None:
    (problem,) = case_problems(evaluators=[entry])

    assert (problem.severity, problem.code, problem.hint) == ("warning", "unknown_field", hint)


# --- clean, deep, closed


@pytest.mark.parametrize(
    ("name", "pointer", "value"),
    [
        ("eval_cases", "#/$defs/case", CASE),
        ("dataset_document", "#/$defs/record", RECORD),
        ("eval_cases", "#", {"cases": [{"id": "a", "input": "x", "outcome": "y"}]}),
        ("eval_cases", "#/$defs/sidecar", {"dataset": "d", "target": "live"}),
        ("trace", "#", {"messages": [{"role": "user", "content": ["x"]}], "latency_ms": None}),
        ("project", "#", {"store": "sqlite", "targets": {"a": {"provider": "echo"}}}),
    ],
)
def test_a_good_value_has_no_problem(name: str, pointer: str, value: JsonValue) -> None:
    schema = Schema(SCHEMAS.load(name), pointer)

    assert schema.is_clean(value)
    assert schema.problems(value) == []


def test_a_value_with_an_unknown_name_is_not_clean_though_it_has_no_problem() -> None:
    schema = Schema({"type": "object", "properties": {"name": {}}})

    assert (schema.is_clean({"colour": 1}), schema.problems({"colour": 1})) == (False, [])


def test_a_value_too_deep_to_walk_is_one_problem() -> None:
    value: JsonValue = {}
    for _ in range(2000):
        value = {"a": value}

    problems = Schema({"type": "object", "properties": {"a": {"$ref": "#"}}}).problems(value)

    assert [spoken(item) for item in problems] == ["the value is nested deeper than 200 levels"]


def test_a_deep_value_where_a_word_is_expected_is_not_clean() -> None:
    value: JsonValue = []
    for _ in range(600):
        value = [value]
    schema = Schema({"enum": ["a"]})

    assert not schema.is_clean(value)
    assert [item.code for item in schema.problems(value)] == ["value_out_of_range"]


def test_a_lone_surrogate_is_named_where_it_stands() -> None:
    schema = Schema(SCHEMAS.load("eval_cases"), "#/$defs/case")
    value: JsonValue = {**CASE, "id": "\ud800", "tags": ["x", "\udfff", "e\u0301"]}

    problems = schema.problems(value)

    assert not schema.is_clean(value)
    assert [(item.code, item.path) for item in problems] == [
        ("invalid_encoding", ("id",)),
        ("invalid_encoding", ("tags", 1)),
    ]
    assert spoken(problems[0]) == "id has an unpaired surrogate code point"


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:9/x.json", "https://example.org/x", "file:///etc/hostname", "other.json"],
)
@pytest.mark.parametrize("at_top", [True, False])
def test_a_schema_may_not_fetch_another(address: str, at_top: bool) -> None:
    rule: JsonObject = {"$ref": address}
    document: JsonObject = rule if at_top else {"type": "object", "properties": {"a": rule}}

    with pytest.raises(jsonschema_rs.ValidationError):
        Schema(document)


def test_two_fields_that_exclude_each_other_are_told_at_the_second() -> None:
    rule: JsonObject = {"x-either": ["a", "b"], "not": {"required": ["a", "b"]}}
    problem = problem_of(rule, {"a": 1, "b": 2})

    assert (problem.code, problem.path) == ("conflicting_fields", ("f", "b"))
    assert spoken(problem) == "f.b stands beside a; keep one of them"


# --- the words of a message


def test_the_message_names_the_path_inside_the_file() -> None:
    problem = Problem(code="x", message="{} must be short", path=("input", "prompt"))

    assert spoken(problem) == "input.prompt must be short"


def test_a_value_that_looks_like_the_gap_is_shown_as_it_is() -> None:
    assert spoken(problem_of({"enum": ["a"]}, "{}")) == "f must be a, not '{}'"


# --- the published schemas


MEANINGS = {"x-missing", "x-conflict", "x-either", "x-later", "x-instead", "x-located"}
UNTRANSLATED = (
    "contains dependentRequired dependentSchemas else exclusiveMaximum format maxProperties "
    "multipleOf oneOf patternProperties prefixItems propertyNames unevaluatedItems"
)


def rules(node: Any, document: JsonObject, seen: set[str]) -> Iterator[dict[str, Any]]:
    """Every rule whose failure is shown; what stands under a condition only decides."""
    if isinstance(node, list):
        for item in cast(list[Any], node):
            yield from rules(item, document, seen)
    if not isinstance(node, dict):
        return
    members = cast(dict[str, Any], node)
    yield members
    for key, item in members.items():
        if key == "$ref" and item not in seen:
            seen.add(item)
            yield from rules(resolve(members, document), document, seen)
        elif key == "properties":  # whose names may be those of keywords
            yield from rules(list(item.values()), document, seen)
        elif key not in {"$defs", "anyOf", "not", "if"}:
            yield from rules(item, document, seen)


@pytest.mark.parametrize("name", SCHEMAS.written)
def test_published_schemas_use_only_keywords_that_have_a_message(name: str) -> None:
    document = SCHEMAS.load(name)
    used = {key for rule in rules(document, document, set()) for key in rule}

    closing = {"unevaluatedProperties": False}

    assert used & set(UNTRANSLATED.split()) == set()
    assert not any(closing.items() <= rule.items() for rule in rules(document, document, set()))


@pytest.mark.parametrize("name", SCHEMAS.written)
def test_published_schemas_say_what_each_choice_and_ban_means(name: str) -> None:
    document = SCHEMAS.load(name)
    choices = [rule for rule in rules(document, document, set()) if {"anyOf", "not"} & set(rule)]

    assert [rule for rule in choices if not MEANINGS & set(rule)] == []


# --- mutated examples


ODD_VALUES: list[JsonValue] = [None, True, 0, -1.5, "", " ", "text", [], {}, ["x"], {"id": 1}]


def places(value: JsonValue, path: Path = ()) -> list[Path]:
    found: list[Path] = [path] if path else []
    if isinstance(value, dict):
        for name, item in value.items():
            found += places(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*path, index))
    return found


def misspelt(draw: st.DataObject, name: str) -> str:
    place = draw.draw(st.integers(0, max(0, len(name) - 2)))
    first, second, rest = name[:place], name[place : place + 2], name[place + 2 :]
    return draw.draw(
        st.sampled_from([first + second[::-1] + rest, first + second[1:] + rest, name + "s"])
        | st.sampled_from([name.upper(), name.replace("_", "-"), name * 2])
    )


def mutate(draw: st.DataObject, value: JsonObject) -> None:
    *above, last = draw.draw(st.sampled_from(places(value)))
    parent: Any = value
    for part in above:
        parent = parent[part]
    kind = draw.draw(st.sampled_from(["drop", "retype", "misspell"]))
    if kind == "retype":
        parent[last] = copy.deepcopy(draw.draw(st.sampled_from(ODD_VALUES)))
    elif kind == "misspell" and isinstance(last, str):
        parent[misspelt(draw, last)] = parent.pop(last)
    else:
        del parent[last]


def breaks_a_rule(problem: Problem) -> bool:
    """Whether a schema refuses it: an unknown name alone is none of its rules."""
    return problem.severity == "error" or problem.code in {"ignored_field", "conflicting_fields"}


def assert_three_answers_agree(name: str, pointer: str, value: JsonValue) -> None:
    rule: JsonObject = {"$ref": pointer, "$defs": SCHEMAS.load(name)["$defs"]}
    schema = Schema(SCHEMAS.load(name), pointer)
    is_valid = jsonschema_rs.Draft202012Validator(rule).is_valid(value)
    has_unknown_names = any(unknown_names(rule, value))

    problems = schema.problems(value)

    assert schema.is_clean(value) is (problems == [] and not has_unknown_names)
    assert is_valid is not any(breaks_a_rule(item) for item in problems)
    assert all(spoken(item) for item in problems)


@settings(max_examples=examples(300))
@given(st.data())
def test_the_answers_about_a_mutated_case_agree(data: st.DataObject) -> None:
    case = copy.deepcopy(CASE)
    for _ in range(data.draw(st.integers(0, 3))):
        if case:
            mutate(data, case)

    assert_three_answers_agree("eval_cases", "#/$defs/case", case)


@settings(max_examples=examples(300))
@given(st.data())
def test_the_answers_about_a_mutated_record_agree(data: st.DataObject) -> None:
    record = copy.deepcopy(RECORD)
    for _ in range(data.draw(st.integers(0, 3))):
        if record:
            mutate(data, record)

    assert_three_answers_agree("dataset_document", "#/$defs/record", record)
