"""Langfuse: items as cases, traces as responses, what people said as labels."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import cast

import pytest

from fakes.conversions import Desk
from steelyard.errors import RequestError
from steelyard.model.conversion import Conversion
from steelyard.model.json_value import JsonObject, JsonValue

ASKED: JsonObject = {"role": "user", "content": "Capital of France?"}
PARIS: JsonObject = {"role": "assistant", "content": "Paris"}
COUNTS: list[JsonObject] = [
    {"usageDetails": {"input": 12, "output": 3, "total": 15}},
    {"usage_details": '{"input": 12, "output": 3}'},
    {"usage": {"input": 12, "output": 3, "unit": "TOKENS"}},
    {"promptTokens": 12, "completionTokens": 3},
    {"inputUsage": "12", "outputUsage": "3"},
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def item(**more: JsonValue) -> JsonObject:
    made: JsonObject = {
        "id": "i1",
        "status": "ACTIVE",
        "input": "Capital of France?",
        "expectedOutput": "Paris",
        "metadata": {"topic": "geo"},
        "datasetId": "d1",
        "datasetName": "capitals",
        "sourceTraceId": None,
    }
    return {**made, **more}


def trace(name: str = "t1", **more: JsonValue) -> JsonObject:
    made: JsonObject = {
        "id": name,
        "timestamp": "2026-01-01T10:00:00.000Z",
        "name": "qa",
        "input": {"question": "Capital of France?"},
        "output": "Paris",
        "metadata": {"case": "i1"},
        "latency": 1.5,
    }
    return {**made, **more}


def call(**more: JsonValue) -> JsonObject:
    made: JsonObject = {
        "id": "o1",
        "traceId": "t1",
        "type": "GENERATION",
        "name": "ask",
        "startTime": "2026-01-01T10:00:00.100Z",
        "endTime": "2026-01-01T10:00:01.200Z",
        "model": "m-1",
        "input": [ASKED],
        "output": PARIS,
        "level": "DEFAULT",
        "parentObservationId": None,
    }
    return {**made, **more}


def score(**more: JsonValue) -> JsonObject:
    made: JsonObject = {
        "id": "s1",
        "traceId": "t1",
        "source": "ANNOTATION",
        "name": "correct",
        "dataType": "BOOLEAN",
        "value": 1,
        "stringValue": "True",
        "comment": "fine",
        "authorUserId": "u-ann",
    }
    return {**made, **more}


def converted(
    desk: Desk, to: str, *rows: JsonValue, **options: str | dict[str, str]
) -> Conversion:
    desk.write_rows("export/rows.jsonl", *rows)
    output = {"responses": "out.jsonl", "labels": "out.csv"}.get(to, "out.yaml")
    return desk.convert("export", to, output, made_from="langfuse", **options)


def only_trace(desk: Desk) -> JsonObject:
    (row,) = desk.rows("out.jsonl")
    return cast(JsonObject, row["trace"])


def labels(desk: Desk) -> list[dict[str, str]]:
    with (desk.folder / "out.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(
    ("given", "asked", "answer", "metadata"),
    [
        ({}, ASKED["content"], "Paris", {"topic": "geo"}),
        (
            {"input": {"question": "Q?", "lang": "en"}, "expectedOutput": {"answer": "A"}},
            "Q?",
            "A",
            {"topic": "geo", "input": {"lang": "en"}},
        ),
        ({"input": '{"messages": [{"role": "user", "content": "Q?"}]}'}, "Q?", "Paris", None),
        ({"expectedOutput": PARIS, "metadata": "note"}, None, "Paris", {"metadata": "note"}),
        (
            {"expectedOutput": {"city": "Paris", "since": 508}},
            None,
            '{"city": "Paris", "since": 508}',
            None,
        ),
    ],
)
def test_an_item_becomes_a_case(
    desk: Desk, given: JsonObject, asked: str | None, answer: str, metadata: JsonValue
) -> None:
    converted(desk, "eval_cases", item(**given))

    (case,) = desk.read("out.yaml").cases
    assert case.id == "i1"
    assert case.input_messages[-1].content == (asked or ASKED["content"])
    assert [one.content for one in case.expected_messages] == [answer]
    assert metadata is None or dict(case.metadata) == metadata


def test_an_item_that_expects_nothing_has_no_place_in_eval_cases(desk: Desk) -> None:
    made = converted(desk, "eval_cases", item(), item(id="i2", expectedOutput=None))

    assert (made.read, made.emitted, made.count("left_out")) == (2, 1, 1)


def test_pages_of_the_api_and_tables_hold_the_same_items(desk: Desk) -> None:
    desk.write("page.json", {"data": [item(), item(id="i2", status="ARCHIVED")], "meta": {}})
    desk.write("items.csv", "id,input,expectedOutput\ni1,Capital of France?,Paris\n")

    page = desk.convert("page.json", "eval_cases", "a.yaml", made_from="langfuse")
    desk.convert("items.csv", "eval_cases", "b.yaml", made_from="langfuse")

    assert (page.read, page.emitted, page.count("skipped")) == (2, 1, 1)
    assert [one.input_messages for one in desk.read("a.yaml").cases] == [
        one.input_messages for one in desk.read("b.yaml").cases
    ]


@pytest.mark.parametrize("row", [{"a": 1}, item(input={"a": "x", "b": "y"}), item(id=None)])
def test_a_row_that_says_nothing_to_ask_is_invalid(desk: Desk, row: JsonObject) -> None:
    made = converted(desk, "eval_cases", row, item(id="i2"))

    assert (made.read, made.emitted, made.count("invalid")) == (2, 1, 1)


def test_a_member_of_the_input_can_be_named(desk: Desk) -> None:
    row = item(input={"a": "x", "b": "y"}, expectedOutput={"c": "z", "d": 1})

    converted(desk, "eval_cases", row, names={"input": "b", "expected_output": "c"})

    (case,) = desk.read("out.yaml").cases
    assert (case.input_messages[-1].content, case.expected_messages[0].content) == ("y", "z")


@pytest.mark.parametrize("counted", COUNTS)
def test_a_trace_with_its_observations_is_one_response(desk: Desk, counted: JsonObject) -> None:
    made = converted(desk, "responses", trace(), call(**counted))

    found = only_trace(desk)
    assert found["messages"] == [ASKED, PARIS]
    assert found["usage"] == {"input_tokens": 12, "output_tokens": 3}
    assert (found["model"], found["latency_ms"]) == ("m-1", 1500.0)
    spans = cast("list[JsonObject]", found["spans"])
    assert [(one["name"], one["depth"]) for one in spans] == [("qa", 0), ("ask", 1)]
    assert (made.read, made.emitted) == (1, 1)


def test_the_names_of_files_in_a_bucket_are_read(desk: Desk) -> None:
    row: JsonObject = {
        "id": "o1",
        "trace_id": "t1",
        "type": "GENERATION",
        "start_time": "2026-01-01 10:00:00.100",
        "end_time": "2026-01-01 10:00:01.200",
        "provided_model_name": "m-1",
        "input": json.dumps([ASKED]),
        "output": json.dumps(PARIS),
    }

    converted(desk, "responses", row)

    found = only_trace(desk)
    assert (found["messages"], found["model"]) == ([ASKED, PARIS], "m-1")
    assert found["latency_ms"] == 1100.0


def test_what_a_trace_gave_back_is_its_answer(desk: Desk) -> None:
    converted(desk, "responses", trace(output={"answer": "It is Paris."}), call())

    messages = cast("list[JsonObject]", only_trace(desk)["messages"])
    assert messages[-1] == {"role": "assistant", "content": "It is Paris."}


def test_the_calls_of_tools_come_with_their_results(desk: Desk) -> None:
    wanted: JsonObject = {"name": "search", "arguments": '{"q": "capital"}'}
    calls: list[JsonValue] = [{"id": "c1", "type": "function", "function": wanted}]
    said: JsonObject = {"role": "assistant", "content": None, "tool_calls": calls}
    told: JsonObject = {"role": "tool", "tool_call_id": "c1", "content": "Paris"}

    converted(
        desk,
        "responses",
        trace(),
        call(output=said),
        call(id="o2", startTime="2026-01-01T10:00:01.000Z", input=[ASKED, said, told]),
    )

    messages = cast("list[JsonObject]", only_trace(desk)["messages"])
    assert messages[1]["tool_calls"] == [
        {"id": "c1", "tool": "search", "input": {"q": "capital"}, "output": "Paris"}
    ]


def test_the_items_of_a_run_name_records_and_candidate(desk: Desk) -> None:
    run: JsonObject = {
        "name": "v1",
        "datasetRunItems": [
            {"datasetRunName": "v1", "datasetItemId": "i1", "traceId": "t1"},
            {"datasetRunName": "v1", "datasetItemId": "i1", "traceId": "t2"},
        ],
    }

    converted(desk, "responses", run, trace(), trace("t2", timestamp="2026-01-02T10:00:00Z"))

    rows = desk.rows("out.jsonl")
    assert [(one["record_id"], one["candidate_name"], one.get("repeat", 0)) for one in rows] == [
        ("i1", "v1", 0),
        ("i1", "v1", 1),
    ]


def test_a_trace_that_broke_is_a_recorded_failure_and_one_without_an_answer_is_none(
    desk: Desk,
) -> None:
    broken = call(output=None, level="ERROR", statusMessage="boom")

    made = converted(
        desk, "responses", trace(output=None), broken, trace("t2", output=None), trace("t3")
    )

    rows = desk.rows("out.jsonl")
    assert [(row["record_id"], row.get("message")) for row in rows] == [
        ("t1", "boom"),
        ("t3", None),
    ]
    assert (made.read, made.emitted, made.count("left_out")) == (3, 2, 1)


def test_metadata_of_a_trace_can_name_the_record(desk: Desk) -> None:
    converted(desk, "responses", trace(), call(), names={"record_id": "metadata.case"})

    (row,) = desk.rows("out.jsonl")
    assert (row["record_id"], row["candidate_name"]) == ("i1", "m-1")


def test_every_row_is_counted(desk: Desk) -> None:
    made = converted(
        desk, "responses", item(), trace(), call(), score(), trace("t2", input=None, output=None)
    )

    counts = (made.emitted, made.count("skipped"), made.count("left_out"), made.count("invalid"))
    assert (made.read, counts) == (4, (1, 2, 1, 0))


@pytest.mark.parametrize(
    ("given", "cell"),
    [
        ({}, "yes"),
        ({"value": 0.0}, "no"),
        ({"dataType": "NUMERIC", "value": 4.0}, "4"),
        ({"dataType": "NUMERIC", "value": -0.5}, "-0.5"),
        ({"dataType": "CATEGORICAL", "value": 0, "stringValue": "too long"}, "too long"),
    ],
)
def test_what_a_person_said_becomes_a_label(desk: Desk, given: JsonObject, cell: str) -> None:
    converted(desk, "labels", trace(), call(), score(**given))

    assert labels(desk) == [
        {
            "record_id": "t1",
            "repeat": "0",
            "annotator": "u-ann",
            "correct": cell,
            "comment": "correct: fine",
        }
    ]


def test_a_person_has_one_row_for_a_response(desk: Desk) -> None:
    other = score(name="tone", dataType="CATEGORICAL", stringValue="kind", comment=None)

    made = converted(desk, "labels", score(), other, score(), score(value=0))

    (row,) = labels(desk)
    assert (row["correct"], row["tone"]) == ("yes", "kind")
    assert (made.emitted, made.count("skipped"), made.count("left_out")) == (2, 1, 1)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"source": "EVAL"}, "its source is EVAL"),
        ({"source": "API"}, "its source is API"),
        ({"traceId": None, "sessionId": "s"}, "a session or a run"),
        ({"dataType": "CORRECTION"}, "a corrected answer"),
    ],
)
def test_scores_of_machines_are_left_out_and_named(
    desk: Desk, given: JsonObject, reason: str
) -> None:
    made = converted(desk, "labels", score(), score(**given))

    assert (made.read, made.emitted, made.count("left_out")) == (2, 1, 1)
    assert reason in made.unwritten[0].reason


def test_labels_are_about_the_responses_of_one_candidate(desk: Desk) -> None:
    rows = [trace(), trace("t2"), call(), call(id="o2", traceId="t2", model="m-2")]
    rows += [score(), score(id="s2", traceId="t2")]

    with pytest.raises(RequestError, match="several candidates: m-1, m-2"):
        converted(desk, "labels", *rows)
    made = converted(desk, "labels", *rows, split="m-2")

    assert [row["record_id"] for row in labels(desk)] == ["t2"]
    assert (made.read, made.emitted, made.count("skipped")) == (2, 1, 1)
