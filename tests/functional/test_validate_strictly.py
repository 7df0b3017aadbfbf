"""What has no effect in a file does not pass `validate --strict`, and is a warning before."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from steelyard.model.json_value import JsonObject, JsonValue

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

RUBRIC = """id: basic
version: 1.0.0
checks:
  - {id: a, kind: regex, pattern: refund%s}
  - {id: b, kind: must_contain_any, phrases: [please]%s}
scoring: {combine: all_pass%s}
"""
QUESTIONS = """name: Desk
version: desk-v1
questions:
  - {key: fine, label: Is it fine?, type: yes_no%s}
  - key: mood
    label: How is it?
    type: button_group
    options: [{value: bad, label: %s}]
"""
JUDGE = "id: right\nversion: 1.0.0\ntemplate: '%s'\nscore_type: binary\n%s"
SOUND = {
    "rubrics/basic.yaml": RUBRIC % ("", "", ""),
    "rubrics/desk-v1.yaml": QUESTIONS % ("", '"Wrong, or no help"'),
    "judges/right.yaml": JUDGE % ("{{ output }}", ""),
}
TESTS = """tests:
  - id: a
    input: hello
    assertions: [{type: contains, value: hello}]
"""
BOTH = f"""execution: {{assertions: [{{type: contains, value: hello}}]}}
assertions: [{{type: contains, value: NEVER}}]
{TESTS}    execution: {{assertions: [{{type: contains, value: hello}}]}}
"""
CHECK = """id: basic
version: 1.0.0
checks: [{id: a, kind: %s}]
scoring: {combine: all_pass}
"""
LEGAL = {
    "schema_version": "legal_eval_v1",
    "id": "a",
    "dataset": "d",
    "task_type": "rubric_qa",
    "prompt": "When?",
}
TURN: JsonObject = {
    "role": "assistant",
    "content": "x",
    "tool_calls": [{"id": "1", "function": {}}],
}
TEXT_OF_OTHERS = {"type": "text", "text": "hello"}
LEVELS = "level_names: [%s]\n"
META = "Is {{ output }} about {{ metadata.topic }}?"
CASE = {"id": "a", "expected_outcome": "Yes.", "input": "hello"}
HELLO: list[JsonValue] = [{"type": "contains", "value": "hello"}]
GRADERS: list[tuple[JsonObject, str]] = [
    ({"type": "llm_judge", "prompt": "{{ output }}?", "value": "Is right."}, "value"),
    (
        {"type": "tool_trajectory", "mode": "exact", "expected": [], "minimums": {"a": 1}},
        "minimums",
    ),
    (
        {
            "type": "composite",
            "evaluators": HELLO,
            "aggregator": {
                "type": "threshold",
                "threshold": 0.5,
                "weights": {"contains": 1},
            },
        },
        "aggregator.weights",
    ),
    (
        {
            "type": "field_accuracy",
            "fields": [{"path": "a", "match": "date", "tolerance": 1}],
        },
        "fields[0].tolerance",
    ),
]
NO_EFFECT = [
    (
        "cases.jsonl",
        json.dumps({**CASE, "execution": {"evaluators": HELLO}, "evaluators": HELLO}) + "\n",
        "evaluators",
    ),
    ("rubrics/basic.yaml", RUBRIC % (", ignore_case: true", "", ""), "checks[0].ignore_case"),
    ("rubrics/basic.yaml", RUBRIC % ("", ", pattern: x", ""), "checks[1].pattern"),
    ("rubrics/basic.yaml", RUBRIC % ("", "", ", threshold: 0.9"), "scoring.threshold"),
    ("rubrics/desk-v1.yaml", QUESTIONS % (", options: [a]", "Wrong"), "questions[0].options"),
    (
        "rubrics/desk-v1.yaml",
        QUESTIONS % ("", "Wrong, or no help"),
        "questions[1].options[0].or no help",
    ),
    ("judges/right.yaml", JUDGE % ("{{ output }}", "level_names: [a, b]\n"), "level_names"),
    (
        "cases.yaml",
        "vars: {country: France}\n" + TESTS.replace("hello", '"In {{ contry }}?"', 1),
        "tests[0].input",
    ),
    (
        "cases.yaml",
        "vars: {country: France}\n" + TESTS.replace("value: hello", 'value: "{{ country }}"'),
        "tests[0].assertions[0].value",
    ),
    (
        "cases.jsonl",
        json.dumps({**CASE, "evaluators": [{"type": "llm_judge", "prompt": META}]}) + "\n",
        "evaluators[0].prompt",
    ),
    *(
        ("rubrics/basic.yaml", CHECK % check, f"checks[0].{path}")
        for check, path in [
            (
                "tool_usage, expected_tools: [{name: a, arguments: {b: 1}}]",
                "expected_tools[0].arguments",
            ),
            (
                "tool_trajectory, mode: exact, expected: [{tool: a, input: {}}]",
                "expected[0].input",
            ),
            ("field_accuracy, fields: [{path: a, match: exact, must: true}]", "fields[0].must"),
            *(
                (f"field_accuracy, fields: [{{path: a, match: {setting}}}]", f"fields[0].{name}")
                for setting, name in [
                    ("exact, tolerance: 1", "tolerance"),
                    ("date, relative: true", "relative"),
                    ("numeric_tolerance, formats: [ISO]", "formats"),
                ]
            ),
            ("tool_trajectory, mode: exact, expected: [], minimums: {a: 1}", "minimums"),
            ("tool_trajectory, mode: any_order, minimums: {a: 1}, expected: []", "expected"),
            (
                "tool_trajectory, mode: any_order, minimums: {a: 1}, args_match: exact",
                "args_match",
            ),
        ]
    ),
    (
        "set.yaml",
        "questions: [{id: q, input: Pay, expected_tools: [{name: pay, arguments: {a: 1}}]}]\n",
        "questions[0].expected_tools[0].arguments",
    ),
    (
        "rows.jsonl",
        json.dumps({**LEGAL, "rubric": [{"id": "a", "title": "Names it", "points": 5}]}) + "\n",
        "rubric[0].points",
    ),
    *(
        (
            "cases.jsonl",
            json.dumps({**CASE, "evaluators": [graded]}) + "\n",
            f"evaluators[0].{path}",
        )
        for graded, path in GRADERS
    ),
    (
        "cases.jsonl",
        json.dumps({**CASE, "execution": {"region": "eu"}}) + "\n",
        "execution.region",
    ),
    (
        "cases.jsonl",
        '{"id": "a", "expected_outcome": "Yes.", "input": "When?", "input": "Why?"}\n',
        "input",
    ),
]


def validated(steelyard: Steelyard, folder: Path, *options: str) -> tuple[int, list[str]]:
    done = steelyard("validate", ".", "--format", "json", *options, cwd=folder)
    files = json.loads(done.stdout)["files"]
    return done.returncode, [found["path"] for file in files for found in file["findings"]]


def written(folder: Path, name: str, content: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8")


@pytest.mark.parametrize(("name", "content"), SOUND.items())
def test_the_same_file_without_it_is_valid(
    steelyard: Steelyard, tmp_path: Path, name: str, content: str
) -> None:
    written(tmp_path, name, content)

    assert validated(steelyard, tmp_path, "--strict") == (0, [])


@pytest.mark.parametrize(("name", "content", "path"), NO_EFFECT)
def test_what_has_no_effect_is_a_warning_and_strictly_an_error(
    steelyard: Steelyard, tmp_path: Path, name: str, content: str, path: str
) -> None:
    written(tmp_path, name, content)

    assert validated(steelyard, tmp_path) == (0, [path])
    assert validated(steelyard, tmp_path, "--strict") == (1, [path])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("data.jsonl", "", "the file is empty"),
        ("cases.yaml", "evalcases: []\n", "evalcases must have at least 1 item"),
        ("cases.yaml", "tests: []\n", "tests must have at least 1 item"),
        ("set.yaml", "questions: []\n", "questions must have at least 1 item"),
        ("evals.json", '{"evals": []}', "evals must have at least 1 item"),
        (
            "cases.jsonl",
            json.dumps({**CASE, "input": [{"role": "user", "content": [TEXT_OF_OTHERS]}]}),
            "write the text under 'value'",
        ),
        (
            "rows.jsonl",
            json.dumps({**LEGAL, "rubric": [{"id": "a", "title": "t"}], "messages": [TURN]}),
            "messages[0].tool_calls is not supported",
        ),
        (
            "cases.yaml",
            BOTH,
            "cases.yaml:2: error: assertions stands beside the list under 'execution'",
        ),
        ("cases.yaml", BOTH, "tests[0]: assertions stands beside the list under 'execution'"),
        ("cases.yaml", f"rubrics: [Is polite]\n{TESTS}", "error: rubrics is not supported"),
        ("cases.yaml", f"execution: {{skip_defaults: true}}\n{TESTS}", "execution.skip_defaults"),
        ("cases.yaml", TESTS + "    skip_defaults: true\n", "tests[0]: skip_defaults"),
        ("judges/right.yaml", JUDGE % ("Is it right?", ""), "does not show the judge the answer"),
        *(
            ("rubrics/basic.yaml", CHECK % check, said)
            for check, said in [
                ("tool_trajectory, mode: in_order, expected: []", "expected must have at least 1"),
                ("tool_trajectory, mode: superset, expected: []", "expected must have at least 1"),
                (
                    "tool_trajectory, mode: any_order, minimums: {}",
                    "minimums must have at least 1",
                ),
                (
                    "tool_trajectory, mode: any_order, minimums: {a: 0}",
                    "minimums.a must be at least",
                ),
                ('regex, pattern: ""', "pattern must have at least 1 character"),
            ]
        ),
        (
            "judges/right.yaml",
            JUDGE.replace("binary", "levels") % ("{{ output }}", LEVELS % "Yes, yes"),
            "cannot be told from",
        ),
        (
            "judges/right.yaml",
            JUDGE.replace("binary", "levels") % ("{{ output }}", LEVELS % "a, cannot_judge"),
            "cannot decide",
        ),
        (
            "rubrics/desk-v1.yaml",
            "name: Desk\nversion: desk-v1\ndimensions: [语气, 清晰, 语气]\n",
            "says the same as '语气'",
        ),
        *(
            ("judges/right.yaml", JUDGE % (template, ""), said)
            for template, said in [
                ("{{ input }} {{#output}}x{{/output}}", "not show the judge output in any case"),
                ("{{^output}}{{output}}{{/output}}", "not show the judge output in any case"),
                ("{{ input }} {{ output.text }}", "names 'output.text', which is not there"),
                ("{{#expected}}{{ output }}{{/expected}}", "where there is no expected"),
            ]
        ),
        ("rubrics/basic.yaml", SOUND["rubrics/basic.yaml"].replace("0.0", "0.0-01"), "semantic"),
        ("rubrics/basic.yaml", SOUND["rubrics/basic.yaml"].replace("0.0", "0.0-a..b"), "semantic"),
    ],
)
def test_these_are_errors_in_any_mode(
    steelyard: Steelyard, tmp_path: Path, name: str, content: str, said: str
) -> None:
    written(tmp_path, name, content)
    done = steelyard("validate", name, cwd=tmp_path)

    assert done.returncode == 1
    assert said in done.stdout


def test_an_empty_sidecar_is_an_error(steelyard: Steelyard, tmp_path: Path) -> None:
    written(tmp_path, "a.jsonl", '{"id": "a", "expected_outcome": "Yes.", "input": "When?"}\n')
    written(tmp_path, "a.yaml", "")
    done = steelyard("validate", "a.jsonl", cwd=tmp_path)

    assert done.returncode == 1
    assert "a.yaml: error: the file is empty" in done.stdout


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.yml"])
def test_an_empty_file_of_a_folder_is_an_error(
    steelyard: Steelyard, tmp_path: Path, name: str
) -> None:
    written(tmp_path, "cases.yaml", TESTS)
    written(tmp_path, name, "")
    done = steelyard("validate", ".", cwd=tmp_path)

    assert done.returncode == 1
    assert "error: the file is empty" in done.stdout


def test_a_suite_in_the_place_of_cases_is_called_one(steelyard: Steelyard, tmp_path: Path) -> None:
    written(tmp_path, "inner.yaml", TESTS)
    written(tmp_path, "cases.yaml", "tests: inner.yaml\n")
    done = steelyard("validate", "cases.yaml", cwd=tmp_path)

    assert done.returncode == 1
    assert "this is a suite with settings of its own, not a list of cases" in done.stdout


def test_a_strict_run_names_the_place_once(steelyard: Steelyard, tmp_path: Path) -> None:
    case = {"id": 1, "prompt": "p", "expectations": ["a"], "files": ["p.png"]}
    written(tmp_path, "evals.json", json.dumps({"skill_name": "x", "evals": [case]}))
    written(tmp_path, "steelyard.yaml", "judges: {default: {target: echo}}\n")
    done = steelyard("run", "evals.json", "--target", "echo", "--strict", cwd=tmp_path)

    assert "evals.json: evals[0]: strict: files[0]: no such file: p.png" in done.stderr
