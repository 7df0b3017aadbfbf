"""Logs of lm-evaluation-harness: documents as cases, answers as responses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from fakes.conversions import Desk
from steelyard.errors import NotFoundError, RequestError
from steelyard.model.conversion import Conversion
from steelyard.model.json_value import JsonObject, JsonValue

DATE = "2026-03-01T10-20-30.123456"
SAMPLES = f"out/acme__m-1/samples_sums_{DATE}.jsonl"
QUESTION: JsonObject = {"role": "user", "content": "Question: 2 + 2?\nAnswer:"}

ARGUMENTS: list[JsonValue] = [
    [[QUESTION["content"], {"until": []}]],
    [QUESTION["content"]],
    {"gen_args_0": {"arg_0": json.dumps([QUESTION]), "arg_1": {}}},
    {"gen_args_0": {"arg_0": [json.dumps([QUESTION])], "arg_1": {}}},
    {"gen_args_0": {"arg_0": [QUESTION], "arg_1": {}}},
]
UNANSWERED: list[tuple[JsonObject, str]] = [
    ({"arguments": [["2 + 2 =", " 4"], ["2 + 2 =", " 5"]]}, "loglikelihood"),
    ({"arguments": [["text"]], "resps": [[[-3.5, False]]]}, "loglikelihood"),
    ({"arguments": [["a", {}], ["b", {}]]}, "asks several times"),
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def row(**more: JsonValue) -> JsonObject:
    settings: JsonObject = {"until": ["\n"], "temperature": 0.0}
    made: JsonObject = {
        "doc_id": 0,
        "doc": {"question": "2 + 2?", "answer": "4"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": QUESTION["content"], "arg_1": settings}},
        "resps": [[" 4 or so"]],
        "filtered_resps": ["4"],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "doc_hash": "d",
        "exact_match": 1.0,
    }
    return {**made, **more}


def convert(desk: Desk, *rows: JsonValue, to: str = "eval_cases", **options: Any) -> Conversion:
    desk.write_rows(SAMPLES, *rows)
    output = "out.jsonl" if to == "responses" else "out.yaml"
    return desk.convert("out/acme__m-1", to, output, made_from="lm-eval", force=True, **options)


def messages(desk: Desk) -> list[JsonObject]:
    (only,) = desk.rows("out.jsonl")
    return cast(dict[str, list[JsonObject]], only["trace"])["messages"]


def test_a_document_is_one_case_whatever_the_filters(desk: Desk) -> None:
    made = convert(desk, row(), row(filter="flexible-extract", filtered_resps=["44"]))
    dataset: Any = desk.read("out.yaml")
    (case,) = dataset.cases

    assert (dataset.id, case.id, case.answers) == ("sums", "sums:0", ("4",))
    assert case.input_messages[0].text == QUESTION["content"]
    assert case.metadata == {"task": "sums", "doc": row()["doc"]}
    assert (made.emitted, made.count("skipped")) == (1, 1)
    assert [field.field for field in made.fields] == ["metrics"]


def test_several_targets_are_all_kept(desk: Desk) -> None:
    convert(desk, row(target=["4", "four"]))
    dataset: Any = desk.read("out.yaml")
    (case,) = dataset.cases

    assert case.answers == ("4",)
    assert case.metadata["target"] == ["4", "four"]


def test_the_answer_is_the_one_before_the_filters(desk: Desk) -> None:
    desk.write(f"out/acme__m-1/results_{DATE}.json", {"model_name": "acme/m-1", "results": {}})
    made = convert(desk, row(), row(filter="flexible-extract"), to="responses")
    (only,) = desk.rows("out.jsonl")

    assert (only["record_id"], only["candidate_name"]) == ("sums:0", "acme/m-1")
    assert messages(desk) == [QUESTION, {"role": "assistant", "content": " 4 or so"}]
    assert made.count("skipped") == 1


def test_each_response_of_a_document_is_a_repeat(desk: Desk) -> None:
    convert(desk, row(resps=[["4", "5"]]), to="responses")

    assert [one.get("repeat", 0) for one in desk.rows("out.jsonl")] == [0, 1]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_prompt_is_read_as_every_version_writes_it(desk: Desk, arguments: JsonValue) -> None:
    convert(desk, row(arguments=arguments), to="responses")

    assert messages(desk)[0] == QUESTION


@pytest.mark.parametrize("content", ["[{", '[{"a": 1}]'])
def test_a_text_that_only_looks_like_messages_stays_a_text(desk: Desk, content: str) -> None:
    convert(desk, row(arguments=[[content, {}]]), to="responses")

    assert messages(desk)[0]["content"] == content


@pytest.mark.parametrize(("more", "told"), UNANSWERED)
@pytest.mark.parametrize("to", ["eval_cases", "responses"])
def test_a_task_without_one_answer_is_left_out_with_its_reason(
    desk: Desk, more: JsonObject, told: str, to: str
) -> None:
    made = convert(desk, row(**more), to=to)

    assert made.count("left_out") == 1
    assert told in made.unwritten[0].reason


@pytest.mark.parametrize(
    "more", [{"doc_id": None}, {"arguments": []}, {"arguments": [[""]]}, {"resps": [[None]]}]
)
def test_a_row_of_another_shape_is_invalid(desk: Desk, more: JsonObject) -> None:
    made = convert(desk, row(**more), {"a": 1}, to="responses")

    assert made.count("invalid") == 2


@pytest.mark.parametrize(
    ("results", "name"),
    [
        ({"config": {"model": "hf", "model_args": "dtype=auto,pretrained=acme/m-2"}}, "acme/m-2"),
        ({"config": {"model": "m-3", "model_args": None}}, "m-3"),
        ({}, "acme__m-1"),
    ],
)
def test_the_candidate_is_named_by_the_results_else_by_the_folder(
    desk: Desk, results: JsonObject, name: str
) -> None:
    desk.write("out/acme__m-1/results_other.json", results)
    made = convert(desk, row(), to="responses")

    assert desk.rows("out.jsonl")[0]["candidate_name"] == name
    assert ("candidate_name" in [field.field for field in made.fields]) is (not results)


def test_a_split_names_one_task_of_a_folder(desk: Desk) -> None:
    desk.write_rows(f"out/acme__m-1/samples_towns_{DATE}.jsonl", row(target="Lima"))

    assert convert(desk, row()).emitted == 2
    assert convert(desk, row(), split="towns").emitted == 1
    with pytest.raises(RequestError, match="no task 'town'; it has"):
        convert(desk, row(), split="town")


def test_a_single_file_is_read_whatever_its_name(desk: Desk) -> None:
    desk.write_rows("mine.jsonl", row())

    assert desk.convert("mine.jsonl", "eval_cases", "o.yaml", made_from="lm-eval").emitted == 1


def test_results_stand_for_the_samples_of_their_run(desk: Desk) -> None:
    desk.write_rows(SAMPLES, row())
    desk.write_rows(SAMPLES.replace("2026", "2025"), row(doc_id=1))
    results = desk.write(f"out/acme__m-1/results_{DATE}.json", {"model_name": "acme/m-1"})
    desk.convert(str(results), "responses", "out.jsonl", made_from="lm-eval")

    assert [one["record_id"] for one in desk.rows("out.jsonl")] == ["sums:0"]


def test_a_folder_without_samples_says_how_they_are_written(desk: Desk) -> None:
    desk.write("out/a.json", {})

    with pytest.raises(NotFoundError, match="log_samples is set"):
        desk.convert("out", "eval_cases", "o.yaml", made_from="lm-eval")
