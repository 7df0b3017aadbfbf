"""Samples of Inspect's logs as responses and as cases."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given

from fakes.inspect_logs import EVAL, SAMPLE, sample
from steelyard.contracts.importers.inspect_log import LogHead, import_case, import_response
from steelyard.contracts.importers.source_row import Imported
from steelyard.contracts.trace.reader import read_trace
from steelyard.errors import ParseError
from steelyard.model.conversion import Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.json_values import spoilt

HEAD = LogHead.read(EVAL)


def response(**changes: Any) -> dict[str, Any]:
    made = import_response(HEAD, sample(**changes))
    assert isinstance(made, Imported)
    return cast(dict[str, Any], made.row)


def case(to: str = "eval_cases", **changes: Any) -> dict[str, Any]:
    made = import_case(sample(**changes), to)
    assert isinstance(made, Imported)
    return cast(dict[str, Any], made.row)


def test_a_sample_is_a_recorded_response() -> None:
    assert response() == {
        "record_id": "q1",
        "candidate_name": "openai/m-1",
        "trace": {
            "messages": [
                {"role": "system", "content": "You are a librarian."},
                {"role": "user", "content": "How long may I keep a book?"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "reasoning", "reasoning": "Look it up."},
                        {"type": "text", "value": "One moment."},
                    ],
                    "tool_calls": [
                        {
                            "id": "c1",
                            "tool": "look_up",
                            "input": {"what": "loan"},
                            "output": "21 days",
                        }
                    ],
                },
                {"role": "assistant", "content": "Three weeks."},
            ],
            "latency_ms": 750.0,
            "usage": {"input_tokens": 40, "output_tokens": 12},
            "finish_reason": "stop",
            "model": "m-1-2026",
        },
    }


def test_the_trace_is_one_that_our_reader_takes() -> None:
    trace, findings = read_trace(response()["trace"])

    assert trace
    assert findings == []
    assert trace.response == "Three weeks."


@pytest.mark.parametrize(("epoch", "repeat"), [(1, None), (3, 2), (None, None)])
def test_an_epoch_is_a_repeat(epoch: int | None, repeat: int | None) -> None:
    assert response(epoch=epoch).get("repeat") == repeat


@pytest.mark.parametrize("name", [7, "7"])
def test_an_id_is_a_text(name: object) -> None:
    assert response(id=name)["record_id"] == "7"


@pytest.mark.parametrize("name", [None, "", " ", True, [1]])
def test_a_sample_without_an_id_is_wrong(name: object) -> None:
    with pytest.raises(ParseError, match="the sample has no id"):
        response(id=name)


def test_a_sample_that_failed_is_a_recorded_failure() -> None:
    row = response(error={"message": "Out of memory", "traceback": "…"})

    assert (row["error_code"], row["message"]) == ("target_error", "Out of memory")
    assert response(error={})["message"] == "the sample failed"


def test_a_long_text_that_the_log_keeps_apart_is_put_back() -> None:
    messages = [
        {"role": "user", "content": "attachment://abc"},
        {"role": "assistant", "content": [{"type": "text", "text": "attachment://gone"}]},
    ]
    row = response(messages=messages, attachments={"abc": "a long text"})

    assert [message["content"] for message in row["trace"]["messages"]] == [
        "a long text",
        "attachment://gone",
    ]


def test_a_tool_that_failed_says_so() -> None:
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": "f"}]},
        {
            "role": "tool",
            "tool_call_id": "c",
            "content": "",
            "error": {"type": "timeout", "message": "too slow"},
        },
        {"role": "tool", "function": "g", "content": "for itself"},
        {
            "role": "tool",
            "content": [{"type": "image", "image": "x"}, {"type": "text", "text": "y"}],
        },
    ]
    found = response(messages=messages)["trace"]["messages"]

    assert found[0] == {
        "role": "assistant",
        "tool_calls": [{"id": "c", "tool": "f", "output": {"error": messages[1]["error"]}}],
    }
    assert found[1] == {"role": "tool", "content": "for itself", "name": "g"}
    assert found[2]["role"] == "tool"
    assert "image" in found[2]["content"]


def test_what_is_not_known_is_left_out() -> None:
    trace = response(
        output=None, model_usage=None, working_time=None, total_time=None, messages=None
    )["trace"]

    assert trace == {"messages": [], "model": "openai/m-1"}


def test_a_limit_that_ended_the_sample_stays_with_the_trace() -> None:
    assert response(limit={"type": "token", "limit": 5})["trace"]["limit"]["type"] == "token"


def test_what_is_no_part_of_a_trace_is_told() -> None:
    made = import_response(HEAD, sample(store={"a": 1}))

    assert isinstance(made, Imported)
    assert [change.field for change in made.changes] == ["scores", "events", "store"]


def test_a_sample_is_a_case() -> None:
    assert case() == {
        "id": "q1",
        "input_messages": [{"role": "user", "content": "How long may I keep a book?"}],
        "expected_messages": [{"role": "assistant", "content": "three weeks"}],
        "metadata": {"topic": "loans"},
    }


def test_a_conversation_is_asked_whole() -> None:
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]

    assert case(input=asked)["input_messages"] == asked
    assert isinstance(import_case(sample(input=asked), "legal_eval"), Refusal)


@pytest.mark.parametrize("target", [["a", "b"], ["", "a", "b"]])
def test_of_several_targets_the_first_is_the_reference(target: list[str]) -> None:
    made = import_case(sample(target=target), "eval_cases")

    assert isinstance(made, Imported)
    assert made.row["expected_messages"] == [{"role": "assistant", "content": "a"}]
    assert made.row["expected_outcome"] == "The answer agrees with one of these:\n- a\n- b"
    assert cast(JsonObject, made.row["metadata"])["target"] == ["a", "b"]
    assert [(change.field, change.is_lost) for change in made.changes] == [("target", False)]


PICTURE = "data:image/png;base64,iVBORw0KGgo="


@pytest.mark.parametrize(
    ("held", "picture", "told"),
    [({"abc": PICTURE}, PICTURE, []), ({}, "attachment://abc", ["attachments"])],
)
def test_a_picture_that_is_kept_apart_comes_along_or_is_told(
    held: JsonObject, picture: str, told: list[str]
) -> None:
    asked = [
        {
            "role": "user",
            "content": [{"type": "image", "image": "attachment://abc", "detail": None}],
        }
    ]
    made = import_case(sample(input=asked, attachments=held), "eval_cases")
    answered = import_response(HEAD, sample(messages=asked, attachments=held))

    assert isinstance(made, Imported)
    (message,) = cast(list[Any], made.row["input_messages"])
    assert message["content"] == [{"type": "image", "image": picture}]
    for found in (made, answered):
        assert isinstance(found, Imported)
        assert [change.field for change in found.changes if change.field == "attachments"] == told


@pytest.mark.parametrize("target", ["", None, []])
def test_a_case_may_have_no_reference(target: object) -> None:
    made = case(target=target, metadata=None)

    assert "expected_messages" not in made
    assert made["evaluator"] == "none"


@pytest.mark.parametrize("given_input", [None, "", [], 7])
def test_a_sample_that_asks_nothing_is_wrong(given_input: object) -> None:
    with pytest.raises(ParseError, match="nothing says what is asked"):
        case(input=given_input)


def test_choices_go_to_legal_eval() -> None:
    choices = {"choices": ["one week", "three weeks"], "target": "B"}
    made = case("legal_eval", **choices)
    refused = import_case(sample(**choices), "eval_cases")

    assert (made["task_type"], made["correct_choice_ids"]) == ("mcq", ["B"])
    assert made["choices"] == [
        {"id": "A", "text": "one week"},
        {"id": "B", "text": "three weeks"},
    ]
    assert isinstance(refused, Refusal)
    assert refused.outcome == "left_out"


def test_several_choices_may_be_right_and_none_is_wrong() -> None:
    choices = ["a", "b", "c"]

    assert case("legal_eval", choices=choices, target=["A", "C"])["correct_choice_ids"] == [
        *("A", "C"),
    ]
    with pytest.raises(ParseError, match="names none of the choices A, B, C"):
        case("legal_eval", choices=choices, target="D")


def test_a_question_with_an_answer_goes_to_legal_eval() -> None:
    made = case("legal_eval", target=["three weeks", "21 days"])
    refused = import_case(sample(target=""), "legal_eval")

    assert (made["task_type"], made["reference_answers"]) == (
        "reference_qa",
        ["three weeks", "21 days"],
    )
    assert made["metadata"] == {"topic": "loans"}
    assert isinstance(refused, Refusal)
    assert "metadata" not in case("legal_eval", metadata={})


def test_what_a_sandbox_needs_is_told() -> None:
    made = import_case(sample(files=["a.txt"], setup="make"), "eval_cases")

    assert isinstance(made, Imported)
    assert [change.field for change in made.changes] == ["files", "setup"]


@pytest.mark.parametrize("value", [None, {}, {"model": 7}, []])
def test_what_is_no_log_is_said(value: Any) -> None:
    with pytest.raises(ParseError, match="this is not an Inspect log"):
        LogHead.read(value)


@given(spoilt(cast(JsonValue, SAMPLE)))
def test_whatever_a_sample_holds_is_read_or_refused(value: JsonValue) -> None:
    if not isinstance(value, dict):
        return
    for read in (
        lambda: import_response(HEAD, value),
        lambda: import_case(value, "eval_cases"),
        lambda: import_case(value, "legal_eval"),
    ):
        with suppress(ParseError):
            assert read() is not None
