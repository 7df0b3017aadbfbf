"""The rules that a JSON Schema cannot state."""

from __future__ import annotations

import pytest

from steelyard.contracts.dataset_document.rules import (
    KB,
    MAX_METADATA,
    MAX_PAYLOAD,
    MAX_RECORD,
    MAX_RECORD_METADATA,
    header_problems,
    in_words,
    record_size_problems,
    text_problems,
)
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject
from strategies.dataset_documents import record


def test_a_kilobyte_has_1024_bytes() -> None:
    """DD-06, DD-15, DD-30 and DD-31."""
    assert KB == 1_024
    assert MAX_PAYLOAD == 104_857_600
    assert MAX_RECORD == 262_144
    assert MAX_METADATA == 16_384
    assert MAX_RECORD_METADATA == 8_192


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (record(metadata={"a": "x" * 9_000}),
         "{} has 9,008 bytes serialized; at most 8,192 are allowed"),
        (record(input={"prompt": "é" * 150_000}),
         "{} has 300,044 bytes serialized; at most 262,144 are allowed"),
        (record(metadata={"a": [[[[[]]]]]}), "{} is nested deeper than 5 levels"),
    ],
)  # fmt: skip
def test_a_message_says_how_much_there_is_and_how_much_may_be(
    value: JsonObject, message: str
) -> None:
    """DD-30, DD-31 and DD-34."""
    (problem,) = record_size_problems(value, 1_000_000)

    assert problem.message == message


def test_a_record_that_was_written_small_is_not_serialized() -> None:
    huge = record(input={"prompt": "x" * 300_000})

    assert list(record_size_problems(huge, 100)) == []


def test_raw_control_characters_grow_when_they_are_serialized() -> None:
    """DD-32: a NUL is one byte in the file and six in JSON."""
    value = record(input={"prompt": "\0" * 44_000})

    assert len(list(record_size_problems(value, 44_100))) == 1


@pytest.mark.parametrize(
    ("header", "codes"),
    [
        ({}, []),
        ({"created_at": 7, "metadata": [1]}, []),
        ({"created_at": "2026-02-30T00:00:00Z"}, ["value_out_of_range"]),
        ({"metadata": {"a": "x" * 17_000}}, ["value_out_of_range"]),
        ({"metadata": {"a": "x" * 17_000, "b": [[[[[1]]]]]}}, ["value_out_of_range"] * 2),
    ],
)
def test_a_header_is_judged_beyond_its_shape(header: JsonObject, codes: list[str]) -> None:
    """DD-14, DD-15 and DD-34."""
    assert [problem.code for problem in header_problems(header)] == codes


@pytest.mark.parametrize(
    ("path", "message", "said"),
    [
        ("dataset_id", "{} must match ^[a-z]$", "{} may only have the letters"),
        ("created_at", "{} must match ^[0-9]$", "{} must be an ISO 8601 timestamp in UTC"),
        ("created_at", "{} must not be blank", "{} must be an ISO 8601 timestamp in UTC"),
        ("dataset_id", "{} must have at least 1 character(s)", "{} must have at least 1"),
        ("metadata", "{} must match", "{} must match"),
    ],
)
def test_a_pattern_is_said_in_words(path: str, message: str, said: str) -> None:
    problem = Problem(code="value_out_of_range", message=message, path=(path,))

    assert in_words(problem).message.startswith(said)


def test_text_has_up_to_two_flaws() -> None:
    """DD-42, DD-43 and DD-44."""
    value: JsonObject = {"a": ["\x00\ud800"], "b": "e\u0301\x01"}

    assert [
        (problem.path, problem.message) for problem in text_problems(value, allow_not_nfc=False)
    ] == [
        (("a", 0), "{} has a forbidden control character"),
        (("a", 0), "{} has an unpaired surrogate code point"),
        (("b",), "{} has a forbidden control character"),
        (("b",), "{} is not in Unicode NFC"),
    ]
