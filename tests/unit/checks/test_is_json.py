"""`is_json`."""

from __future__ import annotations

import pytest

from steelyard.checks.is_json import IsJson
from steelyard.model.case import Case
from strategies.traces import said


@pytest.mark.parametrize(
    "response",
    ['{"a": [1, null]}', "[]", "42", '"text"', "null", " \n{}\r\n", '{"a": 1, "a": 2}'],
)
def test_any_json_value_passes(response: str) -> None:
    outcome = IsJson().check(said(response), Case(id="a"))

    assert (outcome.passed, outcome.score, outcome.reason) == (True, 1.0, "is JSON")


@pytest.mark.parametrize(
    "response",
    [
        "",
        "Paris",
        "{'a': 1}",
        "{} {}",
        '{"a": 1,}',
        "NaN",
        "[Infinity]",
        '```json\n{"a": 1}\n```',
        'Here it is: {"a": 1}',
        r'{"a": "\ud800"}',
        "[" * 300 + "]" * 300,
    ],
)
def test_what_is_not_json_as_a_whole_fails(response: str) -> None:
    outcome = IsJson().check(said(response), Case(id="a"))

    assert (outcome.passed, outcome.score) == (False, 0.0)


def test_the_reason_says_what_stopped_the_parser_and_shows_the_response() -> None:
    outcome = IsJson().check(said('{"a": }'), Case(id="a"))

    assert outcome.reason == "is not JSON: invalid character (column 7); got '{\"a\": }'"
