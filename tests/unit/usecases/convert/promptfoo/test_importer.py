"""promptfoo configurations: tests as cases, prompts as variants, what is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from steelyard.contracts.importers.source_row import Imported
from steelyard.errors import ParseError
from steelyard.formats.json_fields import fields, items
from steelyard.model.conversion import Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.ports import NoFiles
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.convert.promptfoo.context import ProgramFolder
from steelyard.usecases.convert.promptfoo.importer import PromptfooProject, checked_config
from steelyard.usecases.convert.promptfoo.patterns import SPACE
from steelyard.usecases.convert.promptfoo.source import ConfigFiles
from strategies.eval_cases import json_values

WORD = f"[^{SPACE}]+"


def project(
    config: JsonObject, folder: Path | None = None, programs: ProgramFolder | None = None
) -> PromptfooProject:
    files = DiskWorkspace(folder).files_of(folder / "c.yaml") if folder else NoFiles()
    return PromptfooProject(config, ConfigFiles(files), "c.yaml", programs)


def rows(config: JsonObject, folder: Path | None = None) -> list[JsonObject]:
    found = project(config, folder).cases()
    return [one.row for _, one in found if isinstance(one, Imported)]


def refusals(config: JsonObject) -> list[Refusal]:
    return [one for _, one in project(config).cases() if isinstance(one, Refusal)]


def asked(prompt: JsonValue, **test: JsonValue) -> JsonValue:
    (row,) = rows({"prompts": [prompt], "tests": [test]})
    return row["input_messages"]


def graded(
    *assertions: JsonValue, programs: ProgramFolder | None = None, **test: JsonValue
) -> Imported:
    config: JsonObject = {"prompts": "Hi", "tests": [{"assert": list(assertions), **test}]}
    ((_, only),) = project(config, programs=programs).cases()
    assert isinstance(only, Imported)
    return only


def test_prompts_are_variants_of_targets_and_a_test_is_one_case_whatever_the_prompt() -> None:
    config: JsonObject = {
        "prompts": ["A {{x}}", {"raw": "B {{ x }}!", "label": "second"}],
        "providers": ["echo"],
        "tests": [{"vars": {"x": 1}}, {"vars": {"x": "two"}}],
    }
    made = project(config)
    texts = [row["input_messages"] for row in rows(config)]

    assert texts == [[{"role": "user", "content": text}] for text in ("1", "two")]
    assert made.project() == {
        "targets": {
            "echo-prompt-1": {"provider": "echo", "prompt": "A {{ input }}"},
            "echo-second": {"provider": "echo", "prompt": "B {{ input }}!"},
        }
    }


def test_variants_with_several_variables_take_them_from_the_metadata() -> None:
    config: JsonObject = {
        "prompts": ["{{a}} and {{b.c}}", "{% if a %}{{ a | upper }}{% endif %}"],
        "providers": ["echo"],
        "tests": [{"vars": {"a": "x", "b": {"c": "y"}}}],
    }
    (row,) = rows(config)
    targets = fields(project(config).project()["targets"])

    assert [fields(target)["prompt"] for target in targets.values()] == [
        "{{ metadata.vars.a }} and {{ metadata.vars.b.c }}",
        "{{ metadata.rendered.prompt-2 }}",
    ]
    assert row["metadata"] == {
        "vars": {"a": "x", "b": {"c": "y"}},
        "rendered": {"prompt-2": "X"},
    }


def test_ids_are_the_same_with_one_prompt_and_with_several() -> None:
    tests: list[JsonValue] = [{"vars": {"x": 1}, "assert": [{"type": "is-json"}]}]
    one: JsonObject = {"prompts": ["A {{x}}"], "tests": tests}
    two: JsonObject = {"prompts": ["A {{x}}", "B {{x}}"], "tests": tests}

    assert [row["id"] for row in rows(one)] == [row["id"] for row in rows(two)]


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
        ({"type": "equals", "value": ""}, {"type": "equals", "value": ""}),
        (
            {"type": "llm-rubric", "value": "is kind"},
            {"name": "llm-rubric", "type": "llm_judge", "value": "is kind"},
        ),
        (
            {"type": "llm-rubric", "value": "is kind", "threshold": 0.8},
            {"name": "llm-rubric", "type": "llm_judge", "value": "is kind", "threshold": 0.8},
        ),
        (
            {"type": "model-graded-closedqa", "value": "is {{x}}"},
            {"name": "model-graded-closedqa", "type": "llm_judge", "value": "is 1"},
        ),
        (
            {"type": "factuality", "value": "Rome is old"},
            {
                "name": "factuality",
                "type": "llm_judge",
                "rubrics": [{"description": "Rome is old", "operator": "contradiction"}],
            },
        ),
        ({"type": "min-length", "value": 3}, {"type": "regex", "value": "(?s)^.{3,}$"}),
        (
            {"type": "max-length", "value": 1200},
            {"type": "regex", "value": "(?s)^.{0,1000}.{0,200}$"},
        ),
        (
            {"type": "word-count", "value": {"min": 2, "max": 4}},
            {
                "type": "regex",
                "value": rf"^[{SPACE}]*{WORD}(?:[{SPACE}]+{WORD}){{1,3}}[{SPACE}]*$",
            },
        ),
        (
            {"type": "is-json", "value": {"required": ["a"]}},
            {
                "name": "json",
                "type": "composite",
                "evaluators": [
                    {"name": "is_json", "type": "is_json"},
                    {"name": "json_schema", "type": "json_schema", "schema": {"required": ["a"]}},
                ],
                "aggregator": {"type": "threshold", "threshold": 1},
            },
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


def test_the_weighted_mean_of_the_assertions_must_reach_the_threshold_of_the_test() -> None:
    row, changes = graded(
        {"type": "equals", "value": "a", "weight": 2},
        {"type": "contains", "value": "b"},
        threshold=0.5,
    )

    assert changes == ()
    assert row["evaluators"] == [
        {
            "name": "threshold",
            "type": "composite",
            "required": True,
            "aggregator": {"type": "threshold", "threshold": 1},
            "evaluators": [
                {
                    "name": "threshold",
                    "type": "composite",
                    "min_score": 0.5,
                    "aggregator": {"type": "weighted_average", "weights": {"equals": 2}},
                    "evaluators": [
                        {"name": "equals", "type": "equals", "value": "a"},
                        {"name": "contains", "type": "contains", "value": "b"},
                    ],
                }
            ],
        }
    ]


def test_a_set_without_a_threshold_passes_when_all_of_its_assertions_do() -> None:
    inner: list[JsonValue] = [{"type": "is-json"}, {"type": "contains", "value": "b"}]
    row, _ = graded({"type": "assert-set", "assert": inner})
    lost, changes = graded({"type": "assert-set", "assert": [*inner, {"type": "pi"}]})

    assert row["evaluators"] == [
        {
            "name": "set",
            "type": "composite",
            "required": True,
            "aggregator": {"type": "threshold", "threshold": 1},
            "evaluators": [
                {"name": "is-json", "type": "is-json"},
                {"name": "contains", "type": "contains", "value": "b"},
            ],
        }
    ]
    assert lost["evaluator"] == "none"
    assert "c.yaml: tests[0].assert[0].assert[2] (pi)" in [change.field for change in changes]


def test_similar_is_judged_and_the_report_says_so() -> None:
    row, (change,) = graded({"type": "similar", "value": "Hello", "threshold": 0.9})

    assert row["evaluators"] == [
        {
            "name": "similar",
            "type": "llm_judge",
            "value": "The answer means the same as this text: Hello",
            "required": True,
        }
    ]
    assert not change.is_lost
    assert change.field == "c.yaml: tests[0].assert[0] (similar)"
    assert "promptfoo compares embeddings" in change.message


def test_programs_are_carried_where_commands_are_allowed_and_named_where_not() -> None:
    assertion: JsonObject = {"type": "javascript", "value": "output.length > {{x}}"}
    row, (change,) = graded(assertion, programs=ProgramFolder(""), vars={"x": 1})
    lost, changes = graded(assertion, vars={"x": 1})

    assert row["evaluators"] == [
        {
            "name": "javascript",
            "type": "code_judge",
            "script": ["node", "promptfoo_javascript.cjs"],
            "config": {"vars": {"x": 1}, "code": "output.length > {{x}}", "binary": True},
            "required": True,
        }
    ]
    assert not change.is_lost
    assert lost["evaluator"] == "none"
    assert "allow: {commands: true}" in changes[0].message


def test_an_assertion_without_weight_gates_nothing() -> None:
    counted: JsonObject = {"type": "equals", "value": "b"}
    row, _ = graded({"type": "equals", "value": "a", "weight": 0}, counted)

    assert row["evaluators"] == [
        {"type": "equals", "value": "a", "weight": 0},
        {"type": "equals", "value": "b", "required": True},
    ]


def test_a_test_that_no_assertion_can_fail_is_ungraded() -> None:
    row, changes = graded({"type": "equals", "value": "a", "weight": 0})

    assert row["evaluator"] == "none"
    assert "weight 0" in changes[-1].message
    inner: JsonValue = [{"type": "equals", "value": "a", "weight": 0}]
    assert graded({"type": "assert-set", "assert": inner}).row["evaluator"] == "none"


@pytest.mark.parametrize(
    ("assertion", "kind", "told"),
    [
        ({"type": "pi", "value": "1"}, "pi", "no evaluator stands for it"),
        ({"type": "contains", "value": {"a": 1}}, "contains", "must be a text"),
        ({"type": "contains-any", "value": []}, "contains-any", "must be a list of texts"),
        ({"type": "is-json", "value": 5}, "is-json", "must be a JSON Schema"),
        ({"type": "cost", "threshold": True}, "cost", "its threshold must be a number"),
        ({"type": "latency"}, "latency", "its threshold must be a number"),
        ({"type": "regex", "value": "(?=a)"}, "regex", "none of RE2"),
        ({"type": "contains", "value": "file://x.txt"}, "contains", "not allowed here: x.txt"),
        ({"type": "equals", "value": "a", "transform": "output"}, "equals", "changes the answer"),
        ("text", "assertion", "must be an object with a type"),
        ({"value": "x"}, "None", "must be an object with a type"),
    ],
)
def test_an_assertion_that_cannot_be_carried_is_named_and_never_ends_as_a_pass(
    assertion: JsonValue, kind: str, told: str
) -> None:
    row, changes = graded(assertion)

    assert "evaluators" not in row
    assert row["evaluator"] == "none"
    place = f"c.yaml: tests[0].assert[0] ({kind})"
    assert [change.field for change in changes] == [place, "grading"]
    assert told in changes[0].message


def test_a_case_names_the_assertions_that_did_not_come_over() -> None:
    row, changes = graded({"type": "contains", "value": "a"}, {"type": "pi", "value": "b"})

    assert row["evaluators"] == [{"type": "contains", "value": "a", "required": True}]
    assert row["metadata"] == {"not_converted": ["pi"]}
    assert [change.field for change in changes] == ["c.yaml: tests[0].assert[1] (pi)"]


def test_a_threshold_grades_nothing_where_an_assertion_that_it_counts_is_lost() -> None:
    row, changes = graded({"type": "contains", "value": "a"}, {"type": "pi"}, threshold=0.5)

    assert "evaluators" not in row
    assert row["evaluator"] == "none"
    assert row["metadata"] == {"not_converted": ["pi"]}
    assert changes[-1].field == "grading"
    assert "the threshold counts every assertion" in changes[-1].message


def test_a_test_of_which_only_shared_assertions_came_over_is_ungraded() -> None:
    config: JsonObject = {
        "prompts": "Hi",
        "defaultTest": {"assert": [{"type": "latency", "threshold": 5}]},
        "tests": [{"assert": [{"type": "pi"}]}, {"description": "has no assertions"}],
    }
    lost, kept = [one for _, one in project(config).cases() if isinstance(one, Imported)]

    assert lost.row["evaluator"] == "none"
    assert "only assertions of defaultTest" in lost.changes[-1].message
    assert "evaluators" in kept.row
    assert kept.changes == ()


def test_a_prompt_that_repeats_a_conversation_is_named_and_its_cases_are_ungraded() -> None:
    config: JsonObject = {
        "prompts": ["{% for turn in _conversation %}{{ turn.input }}{% endfor %}{{ q }}"],
        "tests": [
            {
                "vars": {"q": "And then?"},
                "metadata": {"conversationId": "c"},
                "assert": [{"type": "contains", "value": "a"}],
            }
        ],
    }
    made = project(config)
    ((_, only),) = made.cases()
    assert isinstance(only, Imported)

    assert [change.field for change in made.changes] == ["c.yaml: prompts[0]"]
    assert "_conversation" in made.changes[0].message
    assert only.row["evaluator"] == "none"
    assert only.row["metadata"] == {"conversationId": "c"}
    assert [change.field for change in only.changes] == ["grading"]


def test_a_test_without_assertions_is_ungraded_and_nothing_is_lost() -> None:
    row, changes = graded()

    assert row["evaluator"] == "none"
    assert changes == ()


def test_settings_that_nothing_takes_are_named_at_their_place() -> None:
    made = graded({"type": "equals", "value": "v", "rate": 1}, options={"a": 1})

    assert "evaluators" not in made.row
    assert [change.field for change in made.changes[:2]] == [
        "c.yaml: tests[0].options.a",
        "c.yaml: tests[0].assert[0] (equals)",
    ]


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("{% if x %}a{% endif %}", "a"),
        ("Hi {{- x }}", "Hi1"),
        ("{{ y | upper }}", "TWO"),
        ("{{ unknown }}!", "!"),
        ("{% for n in [1, 2] %}{{ n }};{% endfor %}", "1;2;"),
    ],
)
def test_templates_with_logic_are_filled_in_as_promptfoo_does(prompt: str, text: str) -> None:
    assert asked(prompt, vars={"x": 1, "y": "two"}) == [{"role": "user", "content": text}]


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("file://prompts/a.py:make", "a program makes it"),
        ("prompts/a.json", "file references are not allowed here"),
        (7, "a prompt must be a text"),
        ({"label": "x"}, "a prompt must be a text"),
    ],
)
def test_a_prompt_that_cannot_be_read_is_named_and_nothing_is_asked(
    prompt: JsonValue, told: str
) -> None:
    config: JsonObject = {"prompts": [prompt], "tests": [{"vars": {"x": 1}}]}
    (change,) = project(config).changes
    (refusal,) = refusals(config)

    assert change.field == "c.yaml: prompts[0]"
    assert told in change.message
    assert "no prompt can be read" in refusal.reason


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ({"vars": {"x": "file://a.txt"}}, "not allowed here: a.txt"),
        ({"vars": {"x": "file://a.py"}}, "a program makes it"),
        ({"options": {"transformVars": "1"}}, "makes the variables with a program"),
        ("file://tests.ts", "a program makes it"),
        ("huggingface://datasets/a", "a conversion fetches nothing"),
        (5, "a test must be an object or a path"),
    ],
)
def test_a_test_that_cannot_be_read_is_left_out_with_its_place(test: JsonValue, told: str) -> None:
    (refusal,) = refusals({"prompts": ["{{x}}"], "tests": [test]})

    assert refusal.outcome == "left_out"
    assert refusal.reason.startswith("c.yaml: tests[0]: ")
    assert told in refusal.reason


def test_two_tests_with_the_same_variables_and_other_assertions_are_two_cases() -> None:
    tests: list[JsonValue] = [{"assert": [{"type": "equals", "value": one}]} for one in "ab"]
    names = [str(row["id"]) for row in rows({"prompts": "Hi", "tests": tests})]

    assert names[1] == f"{names[0]}-2"


def test_prompts_tests_and_defaults_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text("One {{x}}\n---\nTwo {{x}}\n", encoding="utf-8")
    (tmp_path / "chat.yaml").write_text("- role: user\n  content: Three {{x}}\n", encoding="utf-8")
    (tmp_path / "tests.csv").write_text(
        "x,__expected,__expected2,__metadata:topic\nA,contains: a,not-icontains: b,t\n",
        encoding="utf-8",
    )
    (tmp_path / "more.jsonl").write_text('{"vars": {"x": "file://x.txt"}}\n', encoding="utf-8")
    (tmp_path / "x.txt").write_text("from a file", encoding="utf-8")
    (tmp_path / "default.yaml").write_text("assert: [{type: is-json}]", encoding="utf-8")
    config: JsonObject = {
        "prompts": ["file://two*.txt", "file://chat.yaml"],
        "providers": ["echo"],
        "defaultTest": "file://default.yaml",
        "tests": ["file://tests.csv", "file://more.jsonl"],
    }
    first, second = rows(config, tmp_path)
    targets = fields(project(config, tmp_path).project()["targets"])

    assert list(targets) == ["echo-two-1", "echo-two-2", "echo-chat"]
    assert fields(targets["echo-chat"])["prompt"] == "Three {{ input }}"
    assert first["metadata"] == {"topic": "t", "vars": {"x": "A"}}
    assert first["evaluators"] == [
        {"type": "is-json", "required": True},
        {"type": "contains", "value": "a", "required": True},
        {"type": "icontains", "value": "b", "negate": True, "required": True},
    ]
    assert second["input_messages"] == [{"role": "user", "content": "from a file"}]


def test_scenarios_ask_every_test_with_every_configuration() -> None:
    config: JsonObject = {
        "prompts": "{{a}} {{b}}",
        "scenarios": [
            {
                "config": [{"vars": {"a": 1}}, {"vars": {"a": 2}}],
                "tests": [{"vars": {"b": "x"}}, {"vars": {"b": "y"}}],
            }
        ],
    }
    asked_all = [row["input_messages"] for row in rows(config)]
    texts = [fields(one[0])["content"] for one in asked_all if isinstance(one, list)]

    assert texts == ["1 x", "2 x", "1 y", "2 y"]


@pytest.mark.parametrize(
    ("provider", "settings"),
    [
        (
            {"id": "openai:chat:m", "config": {"temperature": 0, "max_tokens": 5}},
            {
                "provider": "openai",
                "base_url": "https://api.openai.com/v1",
                "model": "m",
                "api_key_env": "OPENAI_API_KEY",
                "temperature": 0,
                "max_new_tokens": 5,
            },
        ),
        (
            "anthropic:messages:c",
            {"provider": "anthropic", "model": "c", "api_key_env": "ANTHROPIC_API_KEY"},
        ),
        (
            {
                "id": "anthropic:messages:c",
                "config": {
                    "tools": [{"name": "t", "input_schema": {"type": "object"}}],
                    "passthrough": {"top_k": 5, "temperature": 0},
                },
            },
            {
                "provider": "anthropic",
                "model": "c",
                "api_key_env": "ANTHROPIC_API_KEY",
                "tools": [{"name": "t", "input_schema": {"type": "object"}}],
                "temperature": 0,
                "extra": {"top_k": 5},
            },
        ),
        (
            {
                "id": "azure:chat:d",
                "config": {
                    "apiHost": "a.example",
                    "apiVersion": "2024-10-21",
                    "headers": {"X-Team": "t"},
                },
            },
            {
                "provider": "openai",
                "base_url": "https://a.example/openai/deployments/d",
                "model": "d",
                "headers": {"api-key": "${AZURE_API_KEY}", "X-Team": "t"},
                "query": {"api-version": "2024-10-21"},
            },
        ),
        (
            "ollama:chat:l:8b",
            {"provider": "openai", "base_url": "http://localhost:11434/v1", "model": "l:8b"},
        ),
        (
            {"id": "openai:responses:m", "config": {"max_output_tokens": 9, "truncation": "auto"}},
            {
                "provider": "openai",
                "base_url": "https://api.openai.com/v1",
                "model": "m",
                "api": "responses",
                "api_key_env": "OPENAI_API_KEY",
                "max_new_tokens": 9,
                "extra": {"truncation": "auto"},
            },
        ),
        (
            {"id": "azure:responses:m", "config": {"apiHost": "a.example", "apiVersion": "v"}},
            {
                "provider": "openai",
                "base_url": "https://a.example/openai",
                "model": "m",
                "headers": {"api-key": "${AZURE_API_KEY}"},
                "query": {"api-version": "v"},
                "api": "responses",
            },
        ),
        (
            {
                "id": "https",
                "config": {
                    "url": "https://a.example/v",
                    "headers": {"X-Key": "{{env.K}}"},
                    "body": {"q": "{{prompt}}"},
                    "transformResponse": "json.out[0].text",
                },
            },
            {
                "provider": "http",
                "url": "https://a.example/v",
                "headers": {"X-Key": "${K}"},
                "body": {"q": "{{prompt}}"},
                "answer": "out[0].text",
            },
        ),
    ],
)
def test_a_provider_is_a_target(provider: JsonValue, settings: JsonObject) -> None:
    made = project({"prompts": "Hi", "providers": [provider], "tests": []})

    assert list(fields(made.project()["targets"]).values()) == [settings]
    assert made.changes == []


def test_settings_of_a_prompt_are_those_of_its_targets_and_others_are_named() -> None:
    config: JsonObject = {
        "prompts": [
            {"raw": "A {{x}}", "label": "cold", "config": {"temperature": 0, "logit": 1}},
            {"raw": "A {{x}}", "label": "warm", "config": {"temperature": 1}, "function": "f"},
        ],
        "providers": [{"id": "openai:m", "config": {"temperature": 0.5, "top_p": 0.9}}],
        "tests": [{"vars": {"x": "1"}}],
    }
    made = project(config)
    targets = fields(made.project()["targets"])

    assert [fields(one)["temperature"] for one in targets.values()] == [0, 1]
    assert [fields(one)["top_p"] for one in targets.values()] == [0.9, 0.9]
    assert [change.field for change in made.changes] == [
        "c.yaml: prompts[1].function",
        "c.yaml: prompts[0].config.logit",
    ]


@pytest.mark.parametrize("providers", [["echo"], [], ["bedrock:x"]])
def test_settings_of_a_prompt_that_no_target_takes_are_named(providers: list[JsonValue]) -> None:
    prompt: JsonObject = {"raw": "Hi", "config": {"temperature": 0}}
    made = project({"prompts": [prompt], "providers": providers, "tests": []})

    assert "c.yaml: prompts[0].config.temperature" in [change.field for change in made.changes]


@pytest.mark.parametrize(
    ("provider", "place"),
    [
        ("bedrock:x", "c.yaml: providers[0]"),
        ("openai:image:d", "c.yaml: providers[0]"),
        ("file://p.js", "c.yaml: providers[0]"),
        ({"id": "echo", "transform": "output.trim()"}, "c.yaml: providers[0]"),
        ({"id": "https://a.example", "transform": "output.trim()"}, "c.yaml: providers[0]"),
        ({"id": "echo", "config": {"a": 1}}, "c.yaml: providers[0].config.a"),
        (
            {"id": "openai:m", "config": {"tools": "file://t.json"}},
            "c.yaml: providers[0].config.tools",
        ),
        (
            {"id": "google:m", "config": {"tools": [{"functionDeclarations": [{"name": "f"}]}]}},
            "c.yaml: providers[0].config.tools",
        ),
        (
            {"id": "openai:m", "config": {"passthrough": {"n": 2}}},
            "c.yaml: providers[0].config.passthrough.n",
        ),
        (
            {"id": "openai:m", "config": {"passthrough": {"user": "{{who}}"}}},
            "c.yaml: providers[0].config.passthrough",
        ),
        (
            {"id": "openai:responses:m", "config": {"seed": 1}},
            "c.yaml: providers[0].config.seed",
        ),
        (
            {"id": "openai:responses:m", "config": {"instructions": "i"}},
            "c.yaml: providers[0].config.instructions",
        ),
        (
            {"id": "openai:m", "config": {"apiVersion": "1"}},
            "c.yaml: providers[0].config.apiVersion",
        ),
        ({"id": "openai:m", "config": {"apiKey": "sk-1"}}, "c.yaml: providers[0].config.apiKey"),
    ],
)
def test_what_of_a_provider_has_no_target_is_named(provider: JsonValue, place: str) -> None:
    made = project({"prompts": "Hi", "providers": [provider], "tests": []})

    assert [change.field for change in made.changes if change.is_lost] == [place]
    assert "sk-1" not in str(made.project())


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ([], "the top level must be an object"),
        ({"description": "d"}, "there is no 'prompts'"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(config: JsonValue, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        checked_config(config)


def test_what_a_configuration_says_beside_prompts_and_tests_is_reported() -> None:
    config: JsonObject = {"prompts": [], "tests": [], "description": "d", "env": {}}

    assert [change.field for change in project(config).changes] == ["c.yaml: env"]


@given(json_values, json_values, json_values)
def test_any_configuration_gives_cases_or_reasons(
    prompts: JsonValue, tests: JsonValue, default: JsonValue
) -> None:
    config: JsonObject = {"prompts": prompts, "tests": tests, "defaultTest": default}
    test: JsonObject = {"prompts": ["a"], "tests": [{"assert": tests, "vars": prompts}]}

    for each in (config, test, {**test, "providers": prompts}):
        made = project(each)
        assert all(isinstance(found, Imported | Refusal) for _, found in made.cases())
        made.project()


def test_prompts_that_no_target_can_vary_ask_with_cases_of_their_own() -> None:
    config: JsonObject = {
        "prompts": [
            {"raw": '[{"role": "system", "content": "A"}, {"role": "user", "content": "{{x}}"}]'},
            {"raw": "Say {{x}}", "label": "plain", "config": {"temperature": 0}},
        ],
        "providers": [{"id": "openai:m", "prompts": ["plain"]}],
        "tests": [{"vars": {"x": "1"}}, {"vars": {"x": "2"}, "prompts": ["plain"]}],
    }
    made = project(config)
    cases = rows(config)

    assert [fields(row["metadata"])["prompt"] for row in cases] == ["prompt", "plain", "plain"]
    assert len({str(row["id"]) for row in cases}) == 3
    assert cases[1]["input_messages"] == [{"role": "user", "content": "Say 1"}]
    assert [(change.field, change.is_lost) for change in made.changes] == [
        ("c.yaml: prompts[0]", False),
        ("c.yaml: prompts[1]", False),
        ("c.yaml: prompts[1].config.temperature", True),
        ("c.yaml: providers[0].prompts", False),
    ]


def test_a_loop_goes_through_the_members_of_objects_and_a_list_of_them_is_one_value() -> None:
    loop = "{% for who, text in said %}{{who}}: {{text}};{% endfor %}"
    prompt = f"{{% for said in talk %}}{loop}{{% endfor %}}"
    talk: JsonValue = [{"user": "Hi"}, {"assistant": "Ho"}]

    assert asked(prompt, vars={"talk": talk}) == [
        {"role": "user", "content": "user: Hi;assistant: Ho;"}
    ]


@pytest.mark.parametrize(
    ("style", "text"), [('{"tone": "dry"}', "dry"), ("no JSON", None)], ids=["json", "text"]
)
def test_load_reads_json_out_of_a_variable(style: str, text: str | None) -> None:
    config: JsonObject = {"prompts": "{{ (s | load).tone }}", "tests": [{"vars": {"s": style}}]}
    found = [one for _, one in project(config).cases()]

    assert [isinstance(one, Imported) for one in found] == [text is not None]


def test_a_rubric_prompt_may_be_all_that_a_judge_gets() -> None:
    made = graded({"type": "llm-rubric", "rubricPrompt": "Grade {{output}}", "config": {"a": 1}})

    assert made.row["evaluators"] == [
        {
            "name": "llm-rubric",
            "type": "llm_judge",
            "prompt": "Grade {{ output }}",
            "required": True,
        }
    ]
    assert not any(change.is_lost for change in made.changes)


@pytest.mark.parametrize(
    ("assertion", "shown"),
    [
        ({"type": "context-faithfulness"}, ["How old?", "Ten years.", "{{ candidate_answer }}"]),
        ({"type": "context-relevance", "threshold": 0.5}, ["How old?", "Ten years."]),
        ({"type": "context-recall", "value": "It is ten."}, ["Ten years.", "It is ten."]),
        ({"type": "answer-relevance"}, ["How old?", "{{ candidate_answer }}"]),
    ],
)
def test_shares_of_contexts_and_answers_are_judged(
    assertion: JsonObject, shown: list[str]
) -> None:
    made = graded(assertion, vars={"query": "How old?", "context": "Ten years."})
    (judge,) = items(made.row["evaluators"])
    composite = fields(judge)

    assert composite["threshold"] == assertion.get("threshold", 0)
    assert all(text in str(composite["prompt"]) for text in shown)
    assert [change.is_lost for change in made.changes] == [False]


@pytest.mark.parametrize(
    ("assertion", "told"),
    [
        ({"type": "context-relevance"}, "the variable 'query' must be a text"),
        ({"type": "answer-relevance", "threshold": 2}, "between 0 and 1"),
        ({"type": "context-recall", "value": ["a"]}, "its value must be a text"),
        ({"type": "answer-relevance", "rubricPrompt": "p"}, "rubricPrompt"),
        ({"type": "trajectory:tool-used", "value": {"pattern": "a*"}}, "nothing for its pattern"),
        ({"type": "trajectory:tool-used", "value": "a*"}, "no pattern"),
        ({"type": "trajectory:tool-used", "value": {"name": "a", "min": 0}}, "1 or more"),
        ({"type": "not-trajectory:tool-used", "value": ["a", "b"]}, "each of several tools"),
        ({"type": "trajectory:tool-args-match", "value": {"name": "a"}}, "must be an object"),
        (
            {"type": "trajectory:tool-args-match", "value": {"name": "a", "args": {"b": [1]}}},
            "plain values",
        ),
        ({"type": "trajectory:tool-sequence", "value": []}, "in their order"),
        ({"type": "skill-used", "value": "review"}, "agents of Claude"),
    ],
)
def test_what_no_judge_and_no_trajectory_can_say_is_named(
    assertion: JsonObject, told: str
) -> None:
    made = graded(assertion)

    assert told in next(change.message for change in made.changes if change.is_lost)
    assert made.row["evaluator"] == "none"


@pytest.mark.parametrize(
    ("assertion", "trajectory"),
    [
        (
            {"type": "trajectory:tool-used", "value": ["find", "open"]},
            {"mode": "any_order", "minimums": {"find": 1, "open": 1}},
        ),
        (
            {"type": "not-trajectory:tool-used", "value": {"name": "find", "min": 2}},
            {"mode": "any_order", "minimums": {"find": 2}},
        ),
        (
            {
                "type": "trajectory:tool-args-match",
                "value": {"name": "find", "args": {"q": "{{x}}"}},
            },
            {
                "mode": "superset",
                "expected": [{"tool": "find", "args": {"q": "y"}}],
                "args_match": "superset",
            },
        ),
        (
            {"type": "trajectory:tool-sequence", "value": {"mode": "exact", "steps": ["a", "b"]}},
            {"mode": "exact", "expected": [{"tool": "a"}, {"tool": "b"}]},
        ),
        (
            {"type": "trajectory:tool-sequence", "value": ["a", {"name": "b"}]},
            {"mode": "in_order", "expected": [{"tool": "a"}, {"tool": "b"}]},
        ),
    ],
)
def test_tools_that_are_used_are_a_trajectory(
    assertion: JsonObject, trajectory: JsonObject
) -> None:
    made = graded(assertion, vars={"x": "y"})
    (evaluator,) = items(made.row["evaluators"])
    found = fields(evaluator)
    members = items(found.get("evaluators", [found]))

    assert trajectory.items() <= fields(members[0]).items()
    assert not any(change.is_lost for change in made.changes)


def test_a_skill_of_claude_is_a_call_of_its_tool() -> None:
    config: JsonObject = {
        "prompts": "Hi",
        "providers": ["anthropic:claude-agent-sdk"],
        "tests": [{"assert": [{"type": "skill-used", "value": "review"}]}],
    }
    (row,) = rows(config)

    assert fields(items(row["evaluators"])[0])["expected"] == [
        {"tool": "Skill", "args": {"skill": "review"}}
    ]


def test_json_is_the_same_json_after_it_is_parsed() -> None:
    assertion: JsonObject = {"type": "is-json", "value": {"type": "object"}}
    parsed = graded(assertion, options={"transform": "JSON.parse(output)"})

    assert parsed == graded(assertion)


def test_transforms_of_a_test_and_of_an_assertion_follow_each_other() -> None:
    made = graded(
        {"type": "contains", "value": "a", "transform": "output.list"},
        programs=ProgramFolder(""),
        options={"transform": "JSON.parse(output)"},
    )
    config = fields(fields(items(made.row["evaluators"])[0])["config"])

    assert config["transforms"] == [{"code": "JSON.parse(output)"}, {"code": "output.list"}]


def test_an_image_of_bedrock_is_an_image() -> None:
    image: JsonObject = {"format": "jpg", "source": {"bytes": "{{photo}}"}}
    prompt: JsonValue = [{"role": "user", "content": [{"image": image}, {"text": "What is it?"}]}]
    (message,) = items(asked({"raw": prompt}, vars={"photo": "QUJD"}))

    assert fields(message)["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QUJD"}},
        {"type": "text", "value": "What is it?"},
    ]


@pytest.mark.parametrize("key", ["negate", "required", "min_score", "config", "ignoreCase"])
def test_an_assertion_with_a_setting_that_nothing_reads_is_lost(key: str) -> None:
    made = graded(
        {"type": "contains", "value": "a", key: True}, {"type": "contains", "value": "b"}
    )

    assert [fields(one)["value"] for one in items(made.row["evaluators"])] == ["b"]
    assert [change.field for change in made.changes if change.is_lost] == [
        "c.yaml: tests[0].assert[0] (contains)"
    ]
    assert f"'{key}'" in made.changes[0].message


def test_what_people_note_on_an_assertion_loses_nothing() -> None:
    made = graded({"type": "contains", "value": "a", "comment": "as agreed", "id": "one"})

    assert [fields(one)["value"] for one in items(made.row["evaluators"])] == ["a"]
    assert not made.changes


def test_eval_cases_are_no_configuration() -> None:
    denied: JsonObject = {"type": "contains", "value": "a", "negate": True}
    tests: JsonValue = [{"id": "a", "vars": {"input": "Hi"}, "assert": [denied]}]

    with pytest.raises(ParseError, match="no promptfoo configuration but a file of eval cases"):
        checked_config({"prompts": ["{{ input }}"], "providers": ["llm"], "tests": tests})


def test_the_text_of_a_file_is_taken_without_white_space_around_it(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("Paris\n", encoding="utf-8")
    (tmp_path / "v.txt").write_text("France\n\n", encoding="utf-8")
    says: JsonObject = {"type": "contains", "value": "file://e.txt"}
    for name in ("file://v.txt", "file://v*.txt"):
        test: JsonObject = {"vars": {"x": name}, "assert": [says]}
        (row,) = rows({"prompts": "In {{x}}?", "tests": [test]}, tmp_path)

        assert fields(items(row["input_messages"])[0])["content"] == "In France?"
        assert fields(items(row["evaluators"])[0])["value"] == "Paris"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("is-json", {"properties": {"day": {"type": "string", "format": "date"}}}),
        ("contains-json", {"items": {"anyOf": [{"format": "email"}]}}),
        ("regex", "(?i)paris"),
        ("regex", "a(?s:.)b"),
        ("regex", r"[\S,]"),
    ],
)
def test_an_assertion_with_another_verdict_here_is_lost(kind: str, value: JsonValue) -> None:
    assert graded({"type": kind, "value": value}).row["evaluator"] == "none"


def test_a_property_called_format_is_none() -> None:
    schema: JsonObject = {"properties": {"format": {"const": {"format": "date"}}}}

    assert "evaluators" in graded({"type": "is-json", "value": schema}).row


def test_lenient_json_is_named() -> None:
    row, changes = graded({"type": "contains-json", "value": {"type": "object"}})

    judged: JsonObject = {"type": "json_schema", "schema": {"type": "object"}, "anywhere": True}
    assert row["evaluators"] == [{**judged, "required": True}]
    assert [("{a: 1,}" in change.message, change.is_lost) for change in changes] == [(True, False)]


def test_prompts_with_variables_of_the_environment_are_lost() -> None:
    prompts: JsonValue = ["In {{env.CITY}}: {{x}}", "{{ env.CITY }}? {{x}}", "{{x}}"]
    made = project({"prompts": prompts, "providers": ["echo"], "tests": [{"vars": {"x": "a"}}]})

    lost = [change.field for change in made.changes if change.is_lost]
    assert lost == ["c.yaml: prompts[0]", "c.yaml: prompts[1]"]
    assert "env.CITY" not in str(made.project())


def test_a_case_keeps_the_providers_that_its_test_is_for() -> None:
    test: JsonObject = {"vars": {"x": 1}, "providers": ["echo", {"id": "a:b", "label": "mine"}]}
    (row,) = rows({"prompts": "Hi", "tests": [test]})

    assert fields(row["metadata"])["providers"] == "echo, mine"
