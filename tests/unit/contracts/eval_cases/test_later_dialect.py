"""Files that list their cases under `tests`, whose rules are their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.eval_folder import EvalFolder

FAST: JsonObject = {"type": "latency", "threshold": 9}
SAYS: JsonObject = {"type": "contains", "value": "yes"}


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    made = EvalFolder(tmp_path)
    made.write("steelyard.yaml", "allow: {env: [PLACE, LIMIT]}\n")
    made.write("notes.md", "Notes")
    return made


def case(**changes: JsonValue) -> JsonObject:
    return {"id": "a", "criteria": "Goal", "input": "Query", **changes}


def loaded(folder: EvalFolder, *tests: JsonObject, **header: JsonValue) -> tuple[Case, ...]:
    folder.write("data.yaml", {**header, "tests": [*tests]})
    assert [one for one in folder.findings("data.yaml") if one.is_error] == []
    return folder.load("data.yaml")


def types(made: Case) -> list[str]:
    return [evaluator.type for evaluator in made.evaluators]


@pytest.mark.parametrize(
    "header",
    [{"assertions": [FAST]}, {"assert": [FAST]}, {"execution": {"evaluators": [FAST]}}],
)
def test_the_evaluators_of_the_file_are_added(folder: EvalFolder, header: JsonObject) -> None:
    """EC-37"""
    skipping = case(id="c", assertions=[SAYS], execution={"skip_defaults": True})
    cases = loaded(folder, case(assertions=[SAYS]), case(id="b"), skipping, **header)

    assert [types(one) for one in cases] == [["contains", "latency"], ["latency"], ["contains"]]


def test_a_case_may_leave_all_grading_to_its_file(folder: EvalFolder) -> None:
    """EC-19"""
    bare: JsonObject = {"id": "a", "input": "Query"}
    folder.write("data.yaml", {"assertions": [SAYS], "tests": [bare]})
    assert folder.findings("data.yaml") == []

    skipping: JsonObject = {**bare, "execution": {"skip_defaults": True}}
    folder.write("data.yaml", {"assertions": [SAYS], "tests": [skipping]})
    assert [one.path for one in folder.findings("data.yaml")] == ["tests[0].criteria"]


def test_in_other_files_a_list_of_the_case_counts_alone(folder: EvalFolder) -> None:
    """EC-37"""
    own: JsonObject = {"id": "a", "expected_outcome": "Goal", "input": "Query"}
    folder.write("data.yaml", {"evaluators": [FAST], "evalcases": [{**own, "evaluators": [SAYS]}]})

    assert types(folder.load("data.yaml")[0]) == ["contains"]


@pytest.mark.parametrize(("cases", "match"), [("tests", "exact"), ("evalcases", None)])
def test_arguments_are_compared_exactly_by_default(
    folder: EvalFolder, cases: str, match: str | None
) -> None:
    """EC-67"""
    calls: JsonObject = {"type": "tool-trajectory", "mode": "exact", "expected": []}
    stated: JsonObject = {**calls, "args_match": "ignore"}
    folder.write("data.yaml", {cases: [case(assertions=[calls, stated])]})

    first, second = folder.load("data.yaml")[0].evaluators
    assert first.settings.get("args_match") == match
    assert second.settings["args_match"] == "ignore"


def test_calls_that_are_only_counted_have_no_arguments_to_compare(folder: EvalFolder) -> None:
    counted: JsonObject = {"type": "tool-trajectory", "mode": "any_order", "minimums": {"a": 1}}
    folder.write("data.yaml", {"tests": [case(assertions=[counted])]})

    (trajectory,) = folder.load("data.yaml")[0].evaluators
    assert "args_match" not in trajectory.settings


def test_values_are_filled_in(folder: EvalFolder) -> None:
    """EC-64"""
    values: JsonObject = {"who": {"name": "Ada"}, "n": 2, "answer": {"ok": True}}
    made = case(
        vars=values,
        criteria="Greets {{who.name}} {{ n }} times",
        input=[{"role": "user", "content": "Say {{ word }} to {{ who.name }}, not {{ other }}"}],
        expected_output="{{ answer }}",
        assertions=[{"type": "contains", "value": "{{ n }}"}],
    )
    (filled,) = loaded(folder, made, vars={"word": "hello", "n": 1})

    assert filled.expected_outcome == "Greets Ada 2 times"
    assert filled.input_messages[0].content == "Say hello to Ada, not {{ other }}"
    assert filled.expected_messages[0].content == {"ok": True}
    assert filled.evaluators[0].settings["value"] == "{{ n }}"


def test_what_the_file_says_goes_before_every_input(folder: EvalFolder) -> None:
    """EC-65"""
    first, own, skipping = loaded(
        folder,
        case(vars={"tone": "kind"}),
        case(id="b", input_files=[]),
        case(id="c", execution={"skip_defaults": True}),
        input=[{"role": "system", "content": "Be {{ tone }}."}],
        input_files=["notes.md"],
    )

    assert [message.role for message in first.input_messages] == ["system", "user"]
    assert first.input_messages[0].text == "Be kind."
    assert [Path(path).name for path in first.file_paths] == ["notes.md"]
    assert (own.file_paths, len(own.input_messages)) == ((), 2)
    assert [message.content for message in skipping.input_messages] == ["Query"]


def test_a_missing_file_of_the_file_is_an_error_of_its_cases(folder: EvalFolder) -> None:
    """EC-54, EC-65"""
    folder.write("data.yaml", {"input_files": ["none.md"], "tests": [case()]})

    (finding,) = folder.findings("data.yaml")
    assert (finding.code, finding.record_id) == ("missing_file", "a")


def test_variables_that_the_project_lists_are_filled_in(
    folder: EvalFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EC-63"""
    monkeypatch.setenv("PLACE", "Basel")
    monkeypatch.setenv("LIMIT", "20")
    limit: JsonObject = {"type": "token-usage", "max_output": "${{ LIMIT }}"}
    (made,) = loaded(
        folder,
        case(input="Where is ${{ PLACE }}?", assertions=[limit]),
        name="about-${{PLACE}}",
        description="Names ${{ SECRET }}",
        execution={"target": "${{ PLACE }}", "targets": ["${{ SECRET }}"]},
    )

    assert made.input_messages[0].content == "Where is Basel?"
    assert (made.dataset, made.target) == ("about-Basel", "Basel")
    assert made.evaluators[0].settings["max_output"] == 20


@pytest.mark.parametrize(
    ("name", "said"),
    [("PLACE", "the variable PLACE is not set"), ("HOME", "HOME is not listed in allow.env")],
)
def test_other_variables_are_errors(
    folder: EvalFolder, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    """EC-63"""
    monkeypatch.delenv("PLACE", raising=False)
    folder.write("data.yaml", {"tests": [case(input=f"Say ${{{{ {name} }}}}"), case(id="b")]})
    report = folder.report("data.yaml").files[0]

    (finding,) = report.findings
    assert (finding.code, finding.path) == ("forbidden_variable", "tests[0].input")
    assert said in finding.message
    assert (report.total, report.accepted) == (2, 1)


def test_an_earlier_file_keeps_the_text(folder: EvalFolder) -> None:
    """EC-63"""
    folder.write("data.yaml", {"evalcases": [case(input="Say ${{ HOME }} {{ x }}")]})

    assert folder.load("data.yaml")[0].input_messages[0].content == "Say ${{ HOME }} {{ x }}"


@pytest.mark.parametrize("named", ["more/*.yaml", "file://more", "./more/one.yaml"])
def test_cases_may_stand_in_other_files(folder: EvalFolder, named: str) -> None:
    """EC-66"""
    folder.write("evals/more/one.yaml", "- {id: b, criteria: Goal, input: Query}\n")
    folder.write("evals/more/two/case.yaml", "{criteria: Goal, input: Query}\n")
    folder.write("evals/data.yaml", {"tests": [case(), named]})

    assert [one.id for one in folder.load("evals/data.yaml")] == [
        "a",
        "two" if named == "file://more" else "b",
    ]


def test_what_is_wrong_in_another_file_is_told_with_its_line(folder: EvalFolder) -> None:
    """EC-66"""
    folder.write("more.jsonl", '\n{"id": "b", "criteria": 1, "input": "Query"}\n')
    folder.write("data.yaml", {"tests": "more.jsonl"})

    (finding,) = folder.findings("data.yaml")
    assert finding.message == "Line 1: more.jsonl, line 2: criteria must be a string"
    assert (finding.line, finding.path, finding.record_id) == (1, "tests.criteria", "b")


def test_a_file_outside_the_project_has_no_cases(tmp_path: Path) -> None:
    """EC-66"""
    inside = EvalFolder(tmp_path / "project")
    inside.write("steelyard.yaml", "")
    (tmp_path / "more.yaml").write_text("- {id: b, criteria: Goal, input: Query}\n")
    inside.write("data.yaml", {"tests": ["../more.yaml", "../*.yaml"]})

    assert [one.code for one in inside.findings("data.yaml")] == ["file_outside_root"] * 2


def test_ranges_alone_make_a_rubric_item(folder: EvalFolder) -> None:
    """EC-45"""
    ranged: JsonObject = {"id": "clear_text", "score_ranges": {"0": "Unclear", "6": "Clear"}}
    (made,) = loaded(folder, case(assertions=[{"type": "rubrics", "criteria": [ranged]}]))

    assert made.evaluators[0].rubrics[0].description == "clear text"


ATTACK: JsonObject = {"type": "contains", "value": "evil.example", "negate": True}


def prompted(*tests: JsonObject, prompt: str = "{{ input }}") -> JsonObject:
    return {"name": "safety", "providers": ["llm"], "prompts": [prompt], "tests": [*tests]}


def test_a_prompt_of_the_file_asks_what_the_values_of_the_case_say(folder: EvalFolder) -> None:
    """EC-70"""
    said: JsonValue = [{"role": "system", "content": "Be safe."}, {"role": "user", "content": "?"}]
    values: JsonObject = {"input": said, "expected_output": "No."}
    folder.write("data.yaml", prompted({"id": "a", "vars": values, "assert": [ATTACK, "Refuses"]}))
    assert folder.findings("data.yaml") == []

    (made,) = folder.load("data.yaml")

    assert [(one.role, one.content) for one in made.input_messages] == [
        ("system", "Be safe."),
        ("user", "?"),
    ]
    assert [one.content for one in made.expected_messages] == ["No."]
    assert (made.dataset, made.target) == ("safety", "llm")
    assert [(one.type, one.settings.get("negate")) for one in made.evaluators] == [
        ("contains", True),
        ("rubric", None),
    ]


def test_a_case_with_an_input_of_its_own_is_not_asked_the_prompt(folder: EvalFolder) -> None:
    """EC-70"""
    own = case(input="Mine", vars={"question": "Why?"})
    other: JsonObject = {"id": "b", "criteria": "So", "vars": {"question": "Why?"}}
    folder.write("data.yaml", prompted(own, other, prompt="In short: {{ question }}"))

    texts = [one.input_messages[0].content for one in folder.load("data.yaml")]

    assert texts == ["Mine", "In short: Why?"]


@pytest.mark.parametrize(
    ("header", "path"),
    [
        ({"prompts": ["a", "b"]}, "prompts"),
        ({"prompts": "a"}, "prompts"),
        ({"prompts": ["{% if x %}{{ x }}{% endif %}"]}, "prompts"),
        ({"prompts": ["{{ x | upper }}"]}, "prompts"),
        ({"prompts": [{"raw": "a"}]}, "prompts"),
        ({"providers": ["a", "b"]}, "providers"),
        ({"providers": ["openai:m"]}, "providers"),
        ({"providers": [{"id": "a"}]}, "providers"),
    ],
)
def test_other_prompts_and_providers_have_no_place(
    folder: EvalFolder, header: JsonObject, path: str
) -> None:
    """EC-70"""
    folder.write("data.yaml", {**header, "tests": [case()]})

    (found,) = folder.findings("data.yaml")

    assert (found.code, found.path) == ("unsupported_field", path)


def test_a_case_without_the_value_that_is_its_whole_input_has_none(folder: EvalFolder) -> None:
    """EC-70"""
    folder.write("data.yaml", prompted({"id": "a", "criteria": "So", "vars": {"x": "Why?"}}))

    assert [one.path for one in folder.findings("data.yaml")] == ["tests[0].input"]
