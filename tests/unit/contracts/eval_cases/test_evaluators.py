"""Evaluators by type: their settings, their broken forms, their prompts and rubrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.eval_folder import EvalFolder, row

FAST: JsonObject = {"type": "latency", "threshold": 5}
VALUES: list[JsonValue] = ["a", "b"]
GOOD: list[JsonObject] = [
    {"type": "llm_judge"},
    {"type": "llm_judge", "rubrics": ["a"], "threshold": 0.5, "judge_target": "j"},
    {"type": "llm_rubric", "value": "Is polite"},
    {"type": "code_judge", "script": ["python", "check.py"], "cwd": ".", "config": {"a": 1}},
    {"type": "code_judge", "script": "python check.py", "target": {"max_calls": 3}, "rate": 1},
    {"type": "rubric", "rubrics": ["a", {"id": "x", "description": "b", "weight": 2}]},
    {"type": "composite", "evaluators": [FAST], "aggregator": {"type": "weighted_average"}},
    {"type": "tool_trajectory", "mode": "any_order", "minimums": {"search": 1}},
    {"type": "tool_trajectory", "mode": "exact", "expected": [{"tool": "a", "args": "any"}]},
    {"type": "tool_trajectory", "mode": "in_order", "expected": [{"tool": "a", "args": {"q": 1}}]},
    {"type": "tool_trajectory", "mode": "subset", "expected": [], "args_match": "ignore"},
    {
        "type": "tool_trajectory",
        "mode": "superset",
        "expected": [{"tool": "a"}],
        "args_match": ["q"],
    },
    {"type": "field_accuracy", "fields": [{"path": "a.b[0]", "match": "exact"}]},
    {
        "type": "field_accuracy",
        "fields": [{"path": "a", "match": "date", "formats": ["iso"], "required": False}],
        "aggregation": "all_or_nothing",
    },
    {"type": "latency", "threshold": 100},
    {"type": "cost", "budget": 0.5},
    {"type": "token_usage", "max_output": 100},
    {"type": "contains", "value": "a"},
    {"type": "contains_any", "value": VALUES},
    {"type": "contains_all", "value": VALUES},
    {"type": "icontains", "value": "a"},
    {"type": "icontains_any", "value": VALUES},
    {"type": "icontains_all", "value": VALUES},
    {"type": "starts_with", "value": "a"},
    {"type": "ends_with", "value": "a"},
    {"type": "equals", "value": "a"},
    {"type": "equals", "value": ""},
    {"type": "regex", "value": "a+", "flags": "i"},
    {"type": "regex", "value": " ", "flags": "dgimsuvy"},
    {"type": "llm_judge", "min_score": 0},
    {"type": "llm_judge", "threshold": 1},
    {"type": "is_json"},
    {"type": "is_json", "name": "json", "weight": 0, "required": True, "negate": True},
]
COMPOSITE: JsonObject = {"type": "composite", "evaluators": [FAST]}
FIELD: JsonObject = {"path": "a", "match": "exact"}
BROKEN: list[tuple[JsonValue, str, str]] = [
    (5, "invalid_field_type", ""),
    (" ", "value_out_of_range", ""),
    ({}, "missing_required_field", "type"),
    ({"type": "llm_juge"}, "invalid_enum_value", "type"),
    ({"type": "execution_metrics"}, "missing_required_field", "max_tool_calls"),
    ({**FAST, "name": ""}, "value_out_of_range", "name"),
    ({**FAST, "weight": -1}, "value_out_of_range", "weight"),
    ({**FAST, "weight": True}, "invalid_field_type", "weight"),
    ({"type": "llm_judge", "prompt": ["a"]}, "invalid_field_type", "prompt"),
    ({"type": "llm_judge", "rubrics": []}, "value_out_of_range", "rubrics"),
    ({"type": "code_judge"}, "missing_required_field", "script"),
    ({"type": "code_judge", "script": []}, "value_out_of_range", "script"),
    ({"type": "code_judge", "script": ["a", 5]}, "invalid_field_type", "script[1]"),
    ({"type": "rubric"}, "missing_required_field", "rubrics"),
    ({"type": "rubric", "rubrics": []}, "value_out_of_range", "rubrics"),
    ({"type": "rubric", "rubrics": [""]}, "value_out_of_range", "rubrics[0]"),
    (
        {"type": "rubric", "rubrics": [{"id": "x"}]},
        "missing_required_field",
        "rubrics[0].description",
    ),
    ({"type": "composite", "evaluators": [FAST]}, "missing_required_field", "aggregator"),
    (
        {"type": "composite", "aggregator": {"type": "llm_judge"}},
        "missing_required_field",
        "evaluators",
    ),
    (
        {"type": "composite", "evaluators": [], "aggregator": {"type": "llm_judge"}},
        "value_out_of_range",
        "evaluators",
    ),
    ({**COMPOSITE, "aggregator": {}}, "missing_required_field", "aggregator.type"),
    ({**COMPOSITE, "aggregator": {"type": "mean"}}, "invalid_enum_value", "aggregator.type"),
    (
        {**COMPOSITE, "aggregator": {"type": "code_judge"}},
        "missing_required_field",
        "aggregator.path",
    ),
    (
        {**COMPOSITE, "aggregator": {"type": "threshold"}},
        "missing_required_field",
        "aggregator.threshold",
    ),
    (
        {**COMPOSITE, "aggregator": {"type": "threshold", "threshold": 2}},
        "value_out_of_range",
        "aggregator.threshold",
    ),
    (
        {"type": "composite", "evaluators": ["a", {}], "aggregator": {"type": "llm_judge"}},
        "missing_required_field",
        "evaluators[1].type",
    ),
    ({"type": "tool_trajectory"}, "missing_required_field", "mode"),
    ({"type": "tool_trajectory", "mode": "exact"}, "missing_required_field", "expected"),
    ({"type": "tool_trajectory", "mode": "any_order"}, "missing_required_field", "minimums"),
    (
        {"type": "tool_trajectory", "mode": "exact", "expected": [{"tool": "a", "args": "all"}]},
        "invalid_enum_value",
        "expected[0].args",
    ),
    (
        {"type": "tool_trajectory", "mode": "exact", "expected": [], "args_match": "some"},
        "invalid_enum_value",
        "args_match",
    ),
    ({"type": "field_accuracy"}, "missing_required_field", "fields"),
    ({"type": "field_accuracy", "fields": []}, "value_out_of_range", "fields"),
    (
        {"type": "field_accuracy", "fields": [{"path": "a"}]},
        "missing_required_field",
        "fields[0].match",
    ),
    (
        {"type": "field_accuracy", "fields": [FIELD], "aggregation": "sum"},
        "invalid_enum_value",
        "aggregation",
    ),
    ({"type": "latency"}, "missing_required_field", "threshold"),
    ({"type": "latency", "threshold": "5"}, "invalid_field_type", "threshold"),
    ({"type": "cost"}, "missing_required_field", "budget"),
    ({"type": "token_usage"}, "missing_required_field", "max_total"),
    ({"type": "token_usage", "max_input": 1.5}, "invalid_field_type", "max_input"),
    *(
        ({"type": kind}, "missing_required_field", "value")
        for kind in ("contains", "icontains", "starts_with", "ends_with", "equals", "regex")
    ),
    *(
        ({"type": kind, "value": "a"}, "invalid_field_type", "value")
        for kind in ("contains_any", "contains_all", "icontains_any", "icontains_all")
    ),
    *(
        ({"type": kind, "value": ["a", ""]}, "value_out_of_range", "value[1]")
        for kind in ("contains_any", "contains_all", "icontains_any", "icontains_all")
    ),
    *(
        ({"type": kind, "value": ""}, "value_out_of_range", "value")
        for kind in ("contains", "icontains", "starts_with", "ends_with", "regex")
    ),
    ({"type": "starts_with", "value": " "}, "value_out_of_range", "value"),
    ({"type": "regex", "value": "("}, "value_out_of_range", "value"),
    ({"type": "regex", "value": "(?=a)"}, "value_out_of_range", "value"),
    ({"type": "regex", "value": "a", "flags": "I"}, "value_out_of_range", "flags"),
    (
        {"type": "field_accuracy", "fields": [{**FIELD, "path": "a["}]},
        "value_out_of_range",
        "fields",
    ),
    (
        {"type": "field_accuracy", "fields": [{**FIELD, "match": "date", "formats": ["QQ"]}]},
        "value_out_of_range",
        "fields",
    ),
    (
        {
            "type": "composite",
            "evaluators": [{"type": "regex", "value": "["}],
            "aggregator": {"type": "weighted_average"},
        },
        "value_out_of_range",
        "evaluators[0].value",
    ),
    ({"type": "llm_judge", "min_score": 1.5}, "value_out_of_range", "min_score"),
    ({"type": "llm_judge", "threshold": 7}, "value_out_of_range", "threshold"),
    (
        {"type": "rubric", "rubrics": [{"outcome": "a", "min_score": 7}]},
        "value_out_of_range",
        "rubrics[0].min_score",
    ),
    ({"type": "is_json", "negate": "yes"}, "invalid_field_type", "negate"),
]


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    return EvalFolder(tmp_path)


@pytest.mark.parametrize("entry", GOOD, ids=lambda entry: str(entry["type"]))
def test_an_evaluator_with_its_settings_is_accepted(folder: EvalFolder, entry: JsonObject) -> None:
    """EC-43"""
    assert folder.row_findings(row(evaluators=[entry])) == []
    assert len(folder.load("data.jsonl")[0].evaluators) == 1


@pytest.mark.parametrize(("entry", "code", "path"), BROKEN)
def test_a_broken_evaluator_makes_its_case_invalid(
    folder: EvalFolder, entry: JsonValue, code: str, path: str
) -> None:
    """EC-42, EC-43"""
    found = folder.row_findings(row(evaluators=[FAST, entry]))

    assert found == [(code, f"evaluators[1].{path}".rstrip("."))]
    assert folder.load("data.jsonl") == ()


def test_a_broken_evaluator_of_a_file_spoils_it(folder: EvalFolder) -> None:
    """EC-34, EC-43"""
    broken: JsonObject = {"type": "latency"}
    folder.write("data.yaml", {"evaluators": [broken], "evalcases": [row()]})

    (file,) = folder.report("data.yaml").files
    assert (file.total, file.accepted) == (1, 0)
    assert [finding.path for finding in file.findings] == ["evaluators[0].threshold"]


def test_an_unknown_type_is_answered_with_the_known_ones(folder: EvalFolder) -> None:
    """EC-42"""
    folder.write("data.jsonl", [row(evaluators=[{"type": "llm_juge"}])])

    (finding,) = folder.findings("data.jsonl")
    assert "must be llm_judge, code_judge, rubric, composite" in finding.message
    assert finding.hint == "did you mean 'llm_judge'?"


@pytest.mark.parametrize(
    ("entry", "name"), [(FAST, "latency"), ({**FAST, "name": "fast"}, "fast")]
)
def test_an_evaluator_without_a_name_is_called_after_its_type(
    folder: EvalFolder, entry: JsonObject, name: str
) -> None:
    """EC-41"""
    assert folder.case(row(evaluators=[entry])).evaluators[0].name == name


def test_texts_in_a_list_are_one_rubric_at_the_place_of_the_first(folder: EvalFolder) -> None:
    """EC-44"""
    case = folder.case(row(assertions=[FAST, "Is polite", {**FAST, "name": "2nd"}, "Is polite"]))

    items = tuple(RubricItem(id=f"rubric-{n}", description="Is polite") for n in (1, 2))
    assert [evaluator.name for evaluator in case.evaluators] == ["latency", "rubric", "2nd"]
    assert case.evaluators[1] == Evaluator(name="rubric", type="rubric", weight=2.0, rubrics=items)


def test_a_text_that_yaml_repeats_by_alias_counts_twice(folder: EvalFolder) -> None:
    """EC-44"""
    text = "evalcases:\n- {id: a, outcome: b, input: c, assert: [&t Is polite, *t]}\n"
    folder.write("data.yaml", text)

    (evaluator,) = folder.load("data.yaml")[0].evaluators
    assert (evaluator.weight, len(evaluator.rubrics)) == (2.0, 2)


def test_rubric_items_are_texts_or_objects_numbered_by_position(folder: EvalFolder) -> None:
    """EC-45"""
    full: JsonObject = {
        "id": "x",
        "description": "two",
        "weight": 3,
        "required": False,
        "operator": "correctness",
    }
    case = folder.case(row(rubrics=["one", full, {"outcome": "three"}]))

    assert case.rubrics == (
        RubricItem(id="rubric-1", description="one"),
        RubricItem(
            id="x",
            description="two",
            weight=3.0,
            required=False,
            extra={"operator": "correctness"},
        ),
        RubricItem(id="rubric-3", description="three"),
    )


@pytest.mark.parametrize(
    ("ranges", "is_sound"),
    [
        ([], True),
        ({"0": "Wrong.", "5": "Right."}, True),
        ({"0": "Wrong.", "11": "Right."}, False),
        ([{"score_range": [0, 9], "outcome": "Wrong."}], False),
    ],
)
def test_points_of_an_item_must_be_clear(
    folder: EvalFolder, ranges: JsonValue, is_sound: bool
) -> None:
    """EC-61"""
    item: JsonObject = {"description": "Is right", "score_ranges": ranges}
    told = [("value_out_of_range", "rubrics[1].score_ranges")]
    within = [("value_out_of_range", "evaluators[0].rubrics[0].score_ranges")]

    assert folder.row_findings(row(rubrics=["one", item])) == ([] if is_sound else told)
    judged: JsonObject = {"type": "llm_judge", "rubrics": [item]}
    assert folder.row_findings(row(evaluators=[judged])) == ([] if is_sound else within)


def test_composites_nest(folder: EvalFolder) -> None:
    """EC-46"""
    mean: JsonObject = {"type": "weighted_average", "weights": {"latency": 2}}
    inner: JsonObject = {**COMPOSITE, "name": "inner", "aggregator": mean}
    outer: JsonObject = {
        "type": "composite",
        "evaluators": [inner, "Is polite"],
        "aggregator": {"type": "llm-grader", "prompt": "Weigh them."},
    }

    (evaluator,) = folder.case(row(evaluators=[outer])).evaluators
    first, second = evaluator.members
    assert (first.name, second.type) == ("inner", "rubric")
    assert first.settings == {"aggregator": mean}
    assert first.members[0].settings == {"threshold": 5}
    assert evaluator.prompt == "Weigh them."


def test_a_weight_that_names_no_member_is_a_warning(folder: EvalFolder) -> None:
    """EC-47"""
    mean: JsonObject = {"type": "weighted_average", "weights": {"latncy": 2, "other": 1}}
    folder.write("data.jsonl", [row(evaluators=[{**COMPOSITE, "aggregator": mean}])])

    typo, other = folder.findings("data.jsonl")
    assert "weights.latncy names no member; members: latency" in typo.message
    assert (typo.severity, typo.code, typo.hint) == (
        "warning",
        "unknown_field",
        "did you mean 'latency'?",
    )
    assert (other.severity, other.hint) == ("warning", None)


@pytest.mark.parametrize("prompt", ["judge.md", "file://judge.md", "judge.txt", "judge.j2"])
@pytest.mark.parametrize("kind", ["llm_judge", "rubric", "composite"])
def test_a_prompt_may_be_a_file(folder: EvalFolder, kind: str, prompt: str) -> None:
    """EC-48"""
    path = folder.write(prompt.removeprefix("file://"), "Judge {{ candidate_answer }}.\n")
    entry: JsonObject = {"type": kind, "rubrics": ["a"], "prompt": prompt}
    if kind == "composite":
        entry = {**COMPOSITE, "aggregator": {"type": "llm_judge", "prompt": prompt}}

    (evaluator,) = folder.case(row(evaluators=[entry])).evaluators
    assert evaluator.prompt == "Judge {{ candidate_answer }}.\n"
    assert evaluator.prompt_path == str(path)


@pytest.mark.parametrize("prompt", ["Is it good?", "Follow\nguide.md", "judge.mdx"])
def test_any_other_prompt_is_the_text_itself(folder: EvalFolder, prompt: str) -> None:
    """EC-48"""
    case = folder.case(row(evaluators=[{"type": "llm_judge", "prompt": prompt}]))

    assert (case.evaluators[0].prompt, case.evaluators[0].prompt_path) == (prompt, None)


@pytest.mark.parametrize("prompt", ["judge.md", "file://judge", "file://./Is it good?"])
def test_a_prompt_file_that_is_missing_is_an_error(folder: EvalFolder, prompt: str) -> None:
    """EC-48"""
    entry: JsonObject = {**COMPOSITE, "aggregator": {"type": "llm_judge", "prompt": prompt}}
    found = folder.row_findings(row(evaluators=[{"type": "llm_judge", "prompt": prompt}, entry]))

    assert found == [
        ("missing_file", "evaluators[0].prompt"),
        ("missing_file", "evaluators[1].aggregator.prompt"),
    ]


def test_a_setting_of_another_type_is_only_a_setting(folder: EvalFolder) -> None:
    """EC-43, EC-48"""
    settings: JsonObject = {"prompt": "no.md", "rubrics": 5, "evaluators": 5, "aggregator": "x"}
    entry: JsonObject = {"type": "code_judge", "script": ["a"], **settings}

    (evaluator,) = folder.case(row(evaluators=[entry])).evaluators
    assert evaluator.settings == {"script": ["a"], **settings}
    assert (evaluator.prompt, evaluator.rubrics, evaluator.members) == (None, (), ())
