"""Every spelling of every dialect reads to the same case; removed names say what came after."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from steelyard.model.evaluator import Evaluator
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.eval_folder import EvalFolder, jsonl, row, without

CASES = ("evalcases", "eval_cases", "cases", "tests")
GOAL = ("expected_outcome", "outcome", "criteria")
LISTS = ("evaluators", "assert", "assertions")
ITEM_TEXT = ("description", "outcome", "expected_outcome", "criteria")
TYPES = {
    "llm_judge": (
        "llm_judge",
        "llm-judge",
        "llm_grader",
        "llm-grader",
        "llm_rubric",
        "llm-rubric",
    ),
    "code_judge": ("code_judge", "code-judge", "code_grader", "code-grader", "script"),
    "rubric": ("rubric", "rubrics"),
    "tool_trajectory": ("tool_trajectory", "tool-trajectory"),
    "field_accuracy": ("field_accuracy", "field-accuracy"),
    "token_usage": ("token_usage", "token-usage"),
    "contains_any": ("contains_any", "contains-any"),
    "contains_all": ("contains_all", "contains-all"),
    "icontains_any": ("icontains_any", "icontains-any"),
    "icontains_all": ("icontains_all", "icontains-all"),
    "starts_with": ("starts_with", "starts-with"),
    "ends_with": ("ends_with", "ends-with"),
    "is_json": ("is_json", "is-json"),
    "fuzzy_match": ("fuzzy_match", "fuzzy-match"),
}
SPELLINGS = [(today, spelling) for today, names in TYPES.items() for spelling in names]
FAST: JsonObject = {"type": "latency", "threshold": 5}
MEAN: JsonObject = {"type": "weighted_average"}
# Settings that let an evaluator of any type pass.
SETTINGS: JsonObject = {
    "script": ["a"],
    "mode": "exact",
    "expected": [],
    "fields": [{"path": "a", "match": "exact"}],
    "max_total": 1,
}
REMOVED: dict[str, tuple[str, ...]] = {
    "case": ("target", "vars", "turns", "mode", "depends_on", "workspace"),
    "file": (
        *("prompts", "providers", "scenarios", "default_test", "evaluate_options"),
        *("environment", "workspace", "preprocessors", "input", "input_files", "vars"),
    ),
    "execution": ("threshold",),
    "llm_judge": ("model", "provider"),
}


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    return EvalFolder(tmp_path)


def renamed(old: str, new: str, **changes: JsonValue) -> JsonObject:
    return {new if name == old else name: value for name, value in row(**changes).items()}


@pytest.mark.parametrize("name", CASES)
def test_the_list_of_cases_has_four_names(folder: EvalFolder, name: str) -> None:
    """EC-22"""
    folder.write("data.yaml", {name: [row()]})

    assert folder.load("data.yaml") == (folder.case(row(), "jsonl/data.jsonl"),)
    assert folder.findings("data.yaml") == []


@pytest.mark.parametrize(
    ("field", "spelling", "value"),
    [
        *(("expected_outcome", name, "Goal") for name in GOAL),
        ("input_messages", "input", [{"role": "user", "content": "Query"}]),
        ("expected_messages", "expected_output", [{"role": "assistant", "content": "Yes"}]),
        *(("evaluators", name, [FAST]) for name in LISTS),
    ],
)
def test_a_field_of_a_case_is_the_same_under_each_name(
    folder: EvalFolder, field: str, spelling: str, value: JsonValue
) -> None:
    """EC-22"""
    today = row(**{field: value})
    older = renamed(field, spelling, **{field: value})

    assert folder.case(older) == folder.case(today)
    assert folder.row_findings(older) == []


@pytest.mark.parametrize("spelling", LISTS)
@pytest.mark.parametrize("place", ["header", "execution"])
def test_a_file_lists_evaluators_under_each_name(
    folder: EvalFolder, place: str, spelling: str
) -> None:
    """EC-22"""
    listed: JsonObject = {spelling: [FAST]}
    header: JsonObject = listed if place == "header" else {"execution": listed}
    folder.write("data.yaml", {**header, "evalcases": [row()]})

    (case,) = folder.load("data.yaml")
    assert case.evaluators == (
        Evaluator(name="latency", type="latency", settings={"threshold": 5}),
    )


@pytest.mark.parametrize("spelling", ["dataset", "name"])
def test_a_file_names_its_dataset_under_each_name(folder: EvalFolder, spelling: str) -> None:
    """EC-22"""
    folder.write("data.yaml", {spelling: "qa", "evalcases": [row()]})

    assert folder.load("data.yaml")[0].dataset == "qa"


@pytest.mark.parametrize(("today", "spelling"), SPELLINGS)
def test_an_evaluator_type_is_the_same_under_each_name(
    folder: EvalFolder, today: str, spelling: str
) -> None:
    """EC-42"""
    value: JsonValue = "x" if today.endswith("_with") or today == "llm_judge" else ["x"]
    settings: JsonObject = {**SETTINGS, "value": value, "rubrics": ["a"]}
    case = folder.case(row(evaluators=[{"type": spelling, **settings}], evaluator=spelling))

    assert (case.evaluators[0].type, case.evaluators[0].name) == (today, today)
    assert case.evaluator == today


@pytest.mark.parametrize(
    ("kind", "settings", "today"),
    [
        ("code_judge", {"command": ["a"]}, {"script": ["a"]}),
        ("llm_judge", {"grader_target": "j"}, {"judge_target": "j"}),
        ("token_usage", {"maxTotal": 1}, {"max_total": 1}),
        ("token_usage", {"maxInput": 1}, {"max_input": 1}),
        ("token_usage", {"maxOutput": 1}, {"max_output": 1}),
        ("rubric", {"criteria": ["a"]}, {"rubrics": ["a"]}),
        *(("rubric", {"rubrics": [{name: "a"}]}, {"rubrics": ["a"]}) for name in ITEM_TEXT),
    ],
)
def test_a_setting_is_the_same_under_each_name(
    folder: EvalFolder, kind: str, settings: JsonObject, today: JsonObject
) -> None:
    """EC-22"""
    older = folder.case(row(evaluators=[{"type": kind, **settings}]))

    assert older == folder.case(row(evaluators=[{"type": kind, **today}]))


@pytest.mark.parametrize("members", LISTS)
@pytest.mark.parametrize("program", ["path", "script", "command"])
@pytest.mark.parametrize("kind", ["code_judge", "code-grader", "script"])
def test_a_composite_is_the_same_under_each_name(
    folder: EvalFolder, members: str, program: str, kind: str
) -> None:
    """EC-22"""
    aggregator: JsonObject = {"type": kind, program: "node join.js"}
    entry: JsonObject = {"type": "composite", members: [FAST], "aggregator": aggregator}

    (composite,) = folder.case(row(evaluators=[entry])).evaluators
    assert composite.settings == {"aggregator": {"type": "code_judge", "script": "node join.js"}}
    assert [member.name for member in composite.members] == ["latency"]


@pytest.mark.parametrize(("first", "second"), list(combinations(CASES, 2)))
def test_two_lists_of_cases_at_once_are_an_error(
    folder: EvalFolder, first: str, second: str
) -> None:
    """EC-23"""
    folder.write("data.yaml", {first: [row()], second: [row()]})

    (finding,) = folder.findings("data.yaml")
    assert (finding.code, finding.path) == ("conflicting_fields", second)
    assert f"{second} is another spelling of {first}" in finding.message


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        *((*pair, "Goal") for pair in combinations(GOAL, 2)),
        ("input_messages", "input", [{"role": "user", "content": "Query"}]),
        ("expected_messages", "expected_output", [{"role": "assistant", "content": "Yes"}]),
        *((*pair, [FAST]) for pair in combinations(LISTS, 2)),
    ],
)
def test_two_spellings_in_a_case_are_an_error(
    folder: EvalFolder, first: str, second: str, value: JsonValue
) -> None:
    """EC-23"""
    rest = without("expected_outcome") if first in GOAL else row()

    found = folder.row_findings({**rest, first: value, second: value})
    assert found == [("conflicting_fields", second)]


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ({"type": "script", "script": "a", "command": "a"}, "command"),
        ({"type": "rubric", "rubrics": ["a"], "criteria": ["a"]}, "criteria"),
        ({"type": "llm_judge", "judge_target": "a", "grader_target": "a"}, "grader_target"),
        ({"type": "token_usage", "max_total": 1, "maxTotal": 1}, "maxTotal"),
        ({"type": "token_usage", "max_input": 1, "maxInput": 1}, "maxInput"),
        ({"type": "token_usage", "max_output": 1, "maxOutput": 1}, "maxOutput"),
        *(
            ({"type": "rubric", "rubrics": [{first: "a", second: "a"}]}, f"rubrics[0].{second}")
            for first, second in combinations(ITEM_TEXT, 2)
        ),
        *(
            ({"type": "composite", first: [FAST], second: [FAST], "aggregator": MEAN}, second)
            for first, second in combinations(LISTS, 2)
        ),
        *(
            (
                {
                    "type": "composite",
                    "evaluators": [FAST],
                    "aggregator": {"type": "script", first: "a", second: "a"},
                },
                f"aggregator.{second}",
            )
            for first, second in combinations(("path", "script", "command"), 2)
        ),
    ],
)
def test_two_spellings_in_an_evaluator_are_an_error(
    folder: EvalFolder, entry: JsonObject, path: str
) -> None:
    """EC-23"""
    found = folder.row_findings(row(evaluators=[entry]))

    assert found == [("conflicting_fields", f"evaluators[0].{path}")]


@pytest.mark.parametrize(("first", "second"), list(combinations(LISTS, 2)))
def test_two_spellings_in_execution_are_an_error(
    folder: EvalFolder, first: str, second: str
) -> None:
    """EC-23"""
    found = folder.row_findings(row(execution={first: [FAST], second: [FAST]}))

    assert found == [("conflicting_fields", f"execution.{second}")]


@pytest.mark.parametrize(("first", "second"), [("dataset", "name"), *combinations(LISTS, 2)])
def test_two_spellings_in_a_sidecar_are_an_error(
    folder: EvalFolder, first: str, second: str
) -> None:
    """EC-23"""
    value: JsonValue = "qa" if first == "dataset" else [FAST]
    folder.write("data.jsonl", [row()])
    folder.write("data.yaml", {first: value, second: value})

    found = [(finding.code, finding.path) for finding in folder.findings("data.jsonl")]
    assert found == [("conflicting_fields", second)]


@pytest.mark.parametrize(
    ("level", "name"), [(level, name) for level, names in REMOVED.items() for name in names]
)
def test_a_removed_name_says_what_to_write_instead(
    folder: EvalFolder, level: str, name: str
) -> None:
    """EC-24"""
    removed: JsonObject = {name: "x"}
    judge: JsonObject = {"type": "llm_judge", **removed}
    content: dict[str, JsonObject] = {
        "case": {"evalcases": [row(**removed)]},
        "file": {**removed, "evalcases": [row()]},
        "execution": {"execution": removed, "evalcases": [row()]},
        "llm_judge": {"evalcases": [row(evaluators=[judge])]},
    }
    folder.write("data.yaml", content[level])

    (finding,) = folder.findings("data.yaml")
    assert (finding.severity, finding.code) == ("error", "unsupported_field")
    assert finding.path.endswith(name)
    assert finding.hint
    assert not folder.report("data.yaml").is_valid


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("targets", "--target"),
        ("workers", "--workers"),
        ("trials", "--repeat"),
        ("cache", "--cache"),
        ("budget_usd", "--budget"),
        ("fail_on_error", "--allow-failures"),
    ],
)
@pytest.mark.parametrize("cases", ["evalcases", "tests"])
def test_an_option_of_a_run_is_a_warning_that_names_ours(
    folder: EvalFolder, cases: str, name: str, option: str
) -> None:
    """EC-24"""
    folder.write("data.yaml", {"execution": {name: 3}, cases: [row(execution={name: 3})]})

    found = folder.findings("data.yaml")
    assert {(one.severity, one.code) for one in found} == {("warning", "ignored_field")}
    assert [one.path for one in found] == [f"execution.{name}", f"{cases}[0].execution.{name}"]
    assert all(option in (one.hint or "") for one in found)
    assert folder.report("data.yaml", strict=True).is_valid


def test_a_removed_name_in_a_line_is_refused_too(folder: EvalFolder) -> None:
    """EC-24"""
    folder.write("data.jsonl", jsonl(row(target="live")))

    (finding,) = folder.findings("data.jsonl")
    assert finding.message == "Line 1: target is not supported"
    assert finding.hint == "use 'execution.target'"
