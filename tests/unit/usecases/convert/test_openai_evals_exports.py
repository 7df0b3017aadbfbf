"""Exports of the OpenAI Evals platform and logs of `oaieval`: graders, answers, failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.conversions import Desk
from steelyard.model.conversion import Conversion
from steelyard.model.json_value import JsonObject, JsonValue

ASKED: JsonObject = {"role": "user", "content": "Capital of Peru?"}
USAGE: JsonObject = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
ITEM: JsonObject = {
    "object": "eval.run.output_item",
    "eval_id": "eval_1",
    "datasource_item": {"id": "peru", "ideal": "Lima"},
    "sample": {
        "input": [ASKED],
        "output": [{"role": "assistant", "content": "Lima."}],
        "model": "m-1",
        "finish_reason": "stop",
        "usage": USAGE,
        "error": {"code": "", "message": ""},
    },
    "results": [{"name": "same", "passed": True}],
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def check(**more: JsonValue) -> JsonObject:
    made: JsonObject = {
        "type": "string_check",
        "name": "same",
        "input": "{{ sample.output_text }}",
        "reference": "{{ item.ideal }}",
        "operation": "eq",
    }
    return {**made, **more}


def cases(desk: Desk, *graders: JsonValue) -> Conversion:
    definition: JsonObject = {"object": "eval", "id": "eval_1", "testing_criteria": [*graders]}
    desk.write("export/eval.json", definition)
    desk.write("export/items.json", {"object": "list", "data": [ITEM]})
    return desk.convert("export", "eval_cases", "cases.yaml", made_from="openai-evals")


def responses(desk: Desk, *rows: JsonValue) -> Conversion:
    desk.write_rows("rows.jsonl", *rows)
    return desk.convert("rows.jsonl", "responses", "out.jsonl", made_from="openai-evals")


def evaluator(desk: Desk) -> Any:
    (case,) = desk.read("cases.yaml").cases
    (found,) = case.evaluators
    return found


@pytest.mark.parametrize(
    ("grader", "settings"),
    [
        (check(), {"value": "^Lima$"}),
        (check(operation="ne"), {"value": "^Lima$", "negate": True}),
        (check(operation="like"), {"value": "(?:Lima)"}),
        (check(operation="ilike"), {"value": "(?:Lima)", "flags": "i"}),
        (check(reference="a.b"), {"value": r"^a\.b$"}),
        (check(input="{{item.ideal}}", reference="{{sample.output_text}}"), {"value": "^Lima$"}),
    ],
)
def test_a_string_check_becomes_a_pattern(
    desk: Desk, grader: JsonObject, settings: JsonObject
) -> None:
    made = cases(desk, grader)
    found = evaluator(desk)

    assert (found.name, found.type, found.settings) == ("same", "regex", settings)
    assert made.count("skipped") == 1
    assert [change.field for change in made.fields] == ["sample"]


def test_a_label_model_becomes_a_judge_of_its_labels(desk: Desk) -> None:
    content: JsonObject = {"type": "input_text", "text": "{{item.ideal}}: {{sample.output_text}}"}
    made = cases(
        desk,
        {
            "type": "label_model",
            "name": "tone",
            "input": [
                {"role": "developer", "content": "Judge."},
                {"role": "user", "content": content},
            ],
            "labels": ["good", "bad"],
            "passing_labels": ["good"],
        },
    )

    assert evaluator(desk).prompt == (
        "Judge.\n\nLima: {{ candidate_answer }}\n\nThe score of each label:\n- good: 1\n- bad: 0"
    )
    assert [(field.field, field.is_lost) for field in made.fields][1:] == [
        ("grader 'tone'", False)
    ]


def test_an_item_passes_where_all_of_its_graders_do(desk: Desk) -> None:
    cases(desk, check(), check(name="other", operation="like"))
    (case,) = desk.read("cases.yaml").cases

    assert [one.settings["required"] for one in case.evaluators] == [True, True]


def test_a_score_model_keeps_its_range_and_threshold(desk: Desk) -> None:
    messages: JsonValue = [{"role": "user", "content": "Rate {{ sample.output_text }}"}]
    grader: JsonObject = {"type": "score_model", "input": messages}
    cases(desk, {**grader, "range": [1, 5], "pass_threshold": 4})
    found = evaluator(desk)

    assert "(s - 1) / 4" in str(found.prompt)
    assert found.settings["threshold"] == 0.75


@pytest.mark.parametrize(
    ("grader", "told"),
    [
        ({"type": "text_similarity", "name": "g"}, "no evaluator stands for a text_similarity"),
        (
            {"type": "python", "name": "g", "source": "…"},
            "stands for a python grader",
        ),
        (check(input="{{ item.other }}"), "something else than the answer"),
        (check(reference="{{ item.other }}"), "it shows 'item.other'"),
        (check(operation="near"), "its operation 'near' is unknown"),
        (check(reference=4), "a template must be a text"),
        ({"type": "label_model", "input": []}, "has no labels"),
        ({"type": "score_model", "input": []}, "does not show the answer"),
        ({"type": "score_model", "input": [], "range": [1]}, "its range must be two numbers"),
    ],
)
def test_a_grader_that_cannot_be_kept_is_named(desk: Desk, grader: JsonObject, told: str) -> None:
    made = cases(desk, grader)

    assert made.emitted == 1
    assert any(told in field.message and field.is_lost for field in made.fields)


def test_the_answer_of_an_item_is_a_response_to_its_case(desk: Desk) -> None:
    made = responses(desk, ITEM, {"object": "eval.run", "id": "evalrun_1"})
    (row,) = desk.rows("out.jsonl")

    assert (row["record_id"], row["candidate_name"]) == ("peru", "m-1")
    assert row["trace"] == {
        "messages": [ASKED, {"role": "assistant", "content": "Lima."}],
        "model": "m-1",
        "finish_reason": "stop",
        "usage": {"input_tokens": 9, "output_tokens": 2},
    }
    assert made.count("skipped") == 1
    assert [field.field for field in made.fields] == ["results"]


def test_a_failed_sample_is_a_recorded_failure(desk: Desk) -> None:
    sample: JsonObject = {"input": [ASKED], "model": "m-1", "error": {"message": "overloaded"}}
    responses(desk, {**ITEM, "sample": sample})
    (row,) = desk.rows("out.jsonl")

    assert (row["error_code"], row["message"]) == ("target_error", "overloaded")


@pytest.mark.parametrize(
    ("sample", "told"),
    [
        ({"input": [ASKED]}, "holds no answer"),
        ({"input": [ASKED], "output_text": "Lima"}, "does not name the model"),
    ],
)
def test_an_item_without_answer_or_model_is_left_out(
    desk: Desk, sample: JsonObject, told: str
) -> None:
    made = responses(desk, {**ITEM, "sample": sample})

    assert told in made.unwritten[0].reason


def event(sample: str, kind: str, **data: JsonValue) -> JsonObject:
    return {"sample_id": sample, "type": kind, "data": {**data}}


SPEC: JsonObject = {"spec": {"completion_fns": ["m-1"], "eval_name": "towns.dev.v0"}}


def test_the_first_sampling_of_a_log_is_the_answer(desk: Desk) -> None:
    made = responses(
        desk,
        SPEC,
        event("towns.dev.1", "sampling", prompt="Capital of Chad?", sampled="N'Djamena"),
        event("towns.dev.0", "sampling", prompt=[ASKED], sampled=["Lima", "Rome"]),
        event("towns.dev.1", "sampling", prompt="Is it right?", sampled=["Yes"]),
        event("towns.dev.1", "match", correct=True),
        {"final_report": {"accuracy": 1.0}},
    )
    first, second = desk.rows("out.jsonl")
    said = [row["trace"]["messages"][-1]["content"] for row in (first, second)]  # type: ignore[index]

    assert [first["record_id"], second["record_id"]] == ["towns.dev.1", "towns.dev.0"]
    assert said == ["N'Djamena", "Lima"]
    assert [field.field for field in made.fields] == ["scores", "sampling"]


def test_an_error_of_a_log_is_a_recorded_failure(desk: Desk) -> None:
    responses(desk, SPEC, event("towns.dev.0", "error", message="timed out"))
    (row,) = desk.rows("out.jsonl")

    assert (row["error_code"], row["message"]) == ("target_error", "timed out")


def test_a_log_that_names_no_model_is_invalid(desk: Desk) -> None:
    made = responses(desk, {"spec": {}}, event("a.b.0", "sampling", prompt="a", sampled="b"))

    assert made.emitted == 0
    assert "completion_fns" in made.unwritten[0].reason
