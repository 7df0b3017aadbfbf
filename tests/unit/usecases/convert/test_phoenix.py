"""Phoenix: examples as cases, spans and runs as responses, what people said as labels."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

from fakes.conversions import Desk
from steelyard.model.conversion import Conversion
from steelyard.model.json_value import JsonObject, JsonValue

ASKED: JsonObject = {"role": "user", "content": "Capital of France?"}
PARIS: JsonObject = {"role": "assistant", "content": "Paris"}
IDS: JsonObject = {"trace_id": "a1", "span_id": "b1"}
FLAT: JsonObject = {
    "llm.model_name": "m-1",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Capital of France?",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Paris",
    "llm.token_count.prompt": 12,
    "llm.token_count.completion": 3,
}
NESTED: JsonObject = {
    "llm": {
        "model_name": "m-1",
        "input_messages": [
            {"message": {"role": "user", "content": "Capital of France?"}},
        ],
        "output_messages": [{"message": {"role": "assistant", "content": "Paris"}}],
        "token_count": {"prompt": 12, "completion": 3},
    }
}
LISTED: JsonObject = {
    "llm.model_name": "m-1",
    "llm.input_messages": [
        {"message.role": "user", "message.content": "Capital of France?"},
    ],
    "llm.output_messages": [{"message.role": "assistant", "message.content": "Paris"}],
    "llm.token_count.prompt": 12,
    "llm.token_count.completion": 3,
}
COLUMNS: JsonObject = {
    f"attributes.{name}": json.dumps(value) if isinstance(value, list) else value
    for name, value in LISTED.items()
}
ANNOTATED: JsonObject = {
    "annotations.0.annotation.name": "correct",
    "annotations.0.annotation.annotator_kind": "HUMAN",
    "annotations.0.annotation.label": "yes",
}
KINDS = ("csv", "parquet")


def otlp() -> JsonObject:
    """The same span as Phoenix writes OTLP, with underscores everywhere."""
    attributes = {"openinference.span.kind": "LLM", **FLAT, **ANNOTATED}
    written: list[JsonValue] = [
        {"key": name, "value": {"int_value" if isinstance(value, int) else "string_value": value}}
        for name, value in attributes.items()
    ]
    one: JsonObject = {
        **IDS,
        "name": "ask",
        "start_time_unix_nano": "1767261600000000000",
        "end_time_unix_nano": "1767261601500000000",
        "attributes": written,
    }
    return {"resource_spans": [{"scope_spans": [{"spans": [one]}]}]}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def span(**more: JsonValue) -> JsonObject:
    made: JsonObject = {
        "id": "U3Bhbjox",
        "name": "ask",
        "context": IDS,
        "span_kind": "LLM",
        "parent_id": None,
        "start_time": "2026-01-01T10:00:00+00:00",
        "end_time": "2026-01-01T10:00:01.500000+00:00",
        "status_code": "OK",
        "status_message": "",
        "attributes": FLAT,
        "events": [],
    }
    return {**made, **more}


def column_span() -> JsonObject:
    row = span()
    del row["context"], row["attributes"], row["events"]
    return {**row, "context.trace_id": "a1", "context.span_id": "b1", **COLUMNS}


def example(**more: JsonValue) -> JsonObject:
    made: JsonObject = {
        "id": "e1",
        "node_id": "RGF0YXNldEV4YW1wbGU6MQ==",
        "input": {"question": "Capital of France?"},
        "output": {"answer": "Paris"},
        "metadata": {"topic": "geo"},
    }
    return {**made, **more}


def run(**more: JsonValue) -> JsonObject:
    made: JsonObject = {
        "example_id": "e1",
        "repetition_number": 1,
        "input": {"question": "Capital of France?"},
        "reference_output": {"answer": "Paris"},
        "output": "Paris",
        "error": None,
        "latency_ms": 340.5,
        "start_time": "2026-01-01T10:00:00+00:00",
        "end_time": "2026-01-01T10:00:00.340500+00:00",
        "trace_id": "a1",
        "prompt_token_count": 12,
        "completion_token_count": 3,
        "annotations": [],
    }
    return {**made, **more}


def annotation(**more: JsonValue) -> JsonObject:
    made: JsonObject = {
        "id": "U3BhbkFubm90YXRpb246MQ==",
        "span_id": "b1",
        "name": "correct",
        "annotator_kind": "HUMAN",
        "result": {"label": "yes", "score": 1.0, "explanation": "fine"},
        "identifier": "",
        "source": "APP",
        "user_id": "ann",
    }
    return {**made, **more}


def converted(desk: Desk, to: str, *rows: JsonValue, **options: Any) -> Conversion:
    desk.write_rows("exp/rows.jsonl", *rows)
    output = {"responses": "out.jsonl", "labels": "out.csv"}.get(to, "out.yaml")
    return desk.convert("exp", to, output, made_from="phoenix", force=True, **options)


def labels(desk: Desk) -> list[dict[str, str]]:
    with (desk.folder / "out.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(
    "row",
    [
        example(),
        example(input='{"question": "Capital of France?"}'),
        {
            "id": "e1",
            "input.question": "Capital of France?",
            "output.answer": "Paris",
            "metadata.topic": "geo",
        },
        {"data": {"dataset_id": "d", "version_id": "v", "examples": [example()]}},
    ],
)
def test_an_example_becomes_a_case(desk: Desk, row: JsonObject) -> None:
    made = converted(desk, "eval_cases", row)

    (case,) = desk.read("out.yaml").cases
    assert (case.id, case.input_messages[-1].content) == ("e1", "Capital of France?")
    assert [one.content for one in case.expected_messages] == ["Paris"]
    assert case.metadata["topic"] == "geo"
    assert (made.read, made.emitted) == (1, 1)


def test_an_example_made_of_a_span_asks_with_its_messages(desk: Desk) -> None:
    row = example(input={"messages": [ASKED]}, output={"messages": [PARIS]})

    converted(desk, "eval_cases", row)

    (case,) = desk.read("out.yaml").cases
    assert case.input_messages[-1].content == "Capital of France?"
    assert [one.content for one in case.expected_messages] == ["Paris"]


@pytest.mark.parametrize(
    "row",
    [span(), span(attributes=NESTED), span(attributes=LISTED), {"data": [span()]}, otlp()],
    ids=["flat", "nested", "lists", "page", "otlp"],
)
def test_spans_are_read_as_every_export_writes_them(desk: Desk, row: JsonObject) -> None:
    converted(desk, "responses", row)

    (found,) = desk.rows("out.jsonl")
    trace = cast(JsonObject, found["trace"])
    assert trace["messages"] == [ASKED, PARIS]
    assert trace["usage"] == {"input_tokens": 12, "output_tokens": 3}
    assert (found["record_id"], found["candidate_name"]) == ("a1", "m-1")
    assert trace["latency_ms"] == 1500.0


def test_a_table_of_spans_is_read_as_csv_and_as_parquet(desk: Desk) -> None:
    frame = pl.DataFrame([column_span()])
    desk.write("spans.csv", frame.write_csv())
    frame.write_parquet(desk.folder / "spans.parquet")

    for name in ("spans.csv", "spans.parquet"):
        desk.convert(name, "responses", f"{name}.jsonl", made_from="phoenix")

    told = [cast(JsonObject, desk.rows(f"spans.{kind}.jsonl")[0]["trace"]) for kind in KINDS]
    assert [one["messages"] for one in told] == [[ASKED, PARIS], [ASKED, PARIS]]


def test_a_span_that_failed_is_a_recorded_failure(desk: Desk) -> None:
    converted(desk, "responses", span(status_code="ERROR", status_message="boom"))

    (found,) = desk.rows("out.jsonl")
    assert (found["error_code"], found["message"]) == ("target_error", "boom")


def test_the_runs_of_an_experiment_answer_its_examples(desk: Desk) -> None:
    made = converted(
        desk,
        "responses",
        run(annotations=[{"name": "exact", "annotator_kind": "CODE", "score": 1.0}]),
        run(repetition_number=2, output={"answer": "Lyon"}),
        run(example_id="e2", output=None, error="boom"),
        run(example_id="e3", output=None),
    )

    rows = desk.rows("out.jsonl")
    assert [(row["record_id"], row["candidate_name"], row.get("repeat", 0)) for row in rows] == [
        ("e1", "exp", 0),
        ("e1", "exp", 1),
        ("e2", "exp", 0),
    ]
    assert cast(JsonObject, rows[0]["trace"])["messages"] == [ASKED, PARIS]
    assert rows[2]["message"] == "boom"
    assert (made.read, made.emitted, made.count("left_out"), made.count("skipped")) == (5, 3, 1, 1)
    assert [one.field for one in made.fields] == ["annotations"]


def test_a_run_answers_the_example_under_the_id_that_the_dataset_gives_it(desk: Desk) -> None:
    people: JsonObject = {"name": "correct", "annotator_kind": "HUMAN", "label": "no"}
    rows = [example(), run(example_id=example()["node_id"], annotations=[people])]

    converted(desk, "responses", *rows)
    converted(desk, "labels", *rows)

    assert [row["record_id"] for row in desk.rows("out.jsonl")] == ["e1"]
    assert [row["record_id"] for row in labels(desk)] == ["e1"]


@pytest.mark.parametrize(
    ("given", "cell"),
    [
        ({}, "yes"),
        ({"result": {"label": None, "score": 4.0}}, "4"),
        ({"result": None, "result.score": 0.5}, "0.5"),
    ],
)
def test_what_a_person_said_becomes_a_label(desk: Desk, given: JsonObject, cell: str) -> None:
    converted(desk, "labels", span(), annotation(**given))

    (row,) = labels(desk)
    assert (row["record_id"], row["annotator"], row["correct"]) == ("a1", "ann", cell)


def test_annotations_come_with_the_spans_that_hold_them(desk: Desk) -> None:
    held: JsonObject = {
        **ANNOTATED,
        "trace_annotations.0.annotation.name": "tone",
        "trace_annotations.0.annotation.annotator_kind": "LLM",
        "trace_annotations.0.annotation.score": 0.5,
    }

    made = converted(desk, "labels", span(attributes={**FLAT, **held}))
    (row,) = labels(desk)
    converted(desk, "labels", otlp())

    assert (row["record_id"], row["correct"]) == ("a1", "yes")
    assert labels(desk) == [row]
    assert (made.read, made.emitted, made.count("left_out")) == (2, 1, 1)


def test_annotations_of_runs_are_about_their_examples(desk: Desk) -> None:
    people: JsonObject = {"name": "correct", "annotator_kind": "HUMAN", "label": "no"}
    columns: JsonObject = {
        "annotation_correct_label": "yes",
        "annotation_correct_annotator_kind": "HUMAN",
    }

    made = converted(
        desk, "labels", run(annotations=[people]), run(repetition_number=2, **columns)
    )

    assert [(row["record_id"], row["repeat"], row["correct"]) for row in labels(desk)] == [
        ("e1", "0", "no"),
        ("e1", "1", "yes"),
    ]
    assert (made.read, made.emitted) == (2, 2)


def test_annotations_of_machines_are_left_out_and_named(desk: Desk) -> None:
    made = converted(desk, "labels", annotation(), annotation(annotator_kind="LLM"), {"a": 1})

    assert (made.read, made.emitted) == (3, 1)
    assert [(one.outcome, one.count) for one in made.unwritten] == [
        ("invalid", 1),
        ("left_out", 1),
    ]
    assert "its annotator is LLM" in made.unwritten[1].reason
