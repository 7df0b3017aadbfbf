"""`format`."""

from __future__ import annotations

from typing import Literal

import pytest

from steelyard.checks.format import Format
from steelyard.model.case import Case
from steelyard.model.json_value import JsonValue
from strategies.traces import said


@pytest.mark.parametrize(
    ("wanted", "response", "passed"),
    [
        ("json", '{"a": 1}', True),
        ("json", " [1]\n", True),
        ("json", "42", True),
        ("json", "```json\n{}\n```", False),
        ("json", "Paris", False),
        ("json", "", False),
        ("text", "Paris", True),
        ("text", "42", True),
        ("text", '"Paris"', True),
        ("text", "```json\n{}\n```", True),
        ("text", '{"a": 1}', False),
        ("text", "[]", False),
        ("text", " \n", False),
    ],
)
def test_the_response_has_the_format(
    wanted: Literal["json", "text"], response: str, passed: bool
) -> None:
    outcome = Format(format=wanted).check(said(response), Case(id="a"))

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(("response", "passed"), [("12345", True), ("123456", False), ("", True)])
def test_the_length_alone_can_be_limited(response: str, passed: bool) -> None:
    assert Format(max_chars=5).check(said(response), Case(id="a")).passed is passed


def test_length_counts_code_points() -> None:
    assert Format(max_chars=2).check(said("\N{PARROT}é"), Case(id="a")).passed


@pytest.mark.parametrize(("response", "passed"), [("{}", True), ("Paris", False)])
def test_without_a_format_that_of_the_case_counts(response: str, passed: bool) -> None:
    """CR-08"""
    case = Case(id="a", expected={"format": "json"})

    assert Format().check(said(response), case).passed is passed


def test_the_format_of_the_check_wins_over_that_of_the_case() -> None:
    case = Case(id="a", expected={"format": "json"})

    assert Format(format="text").check(said("Paris"), case).passed


@pytest.mark.parametrize(
    ("stated", "said_so"),
    [(None, "the case states no format"), ("xml", "the case states the format 'xml'")],
)
def test_without_anything_to_look_for_it_is_skipped(stated: JsonValue, said_so: str) -> None:
    """CR-08"""
    case = Case(id="a", expected={} if stated is None else {"format": stated})
    outcome = Format().check(said("Paris"), case)

    assert outcome.status == "skipped"
    assert outcome.reason == f"the check states neither format nor length; {said_so}"


@pytest.mark.parametrize(
    ("check", "response", "reason"),
    [
        (Format(format="json"), "{}", "is json"),
        (Format(max_chars=5), "Paris", "is short enough"),
        (Format(format="text"), "{}", "is JSON where text was asked for"),
        (Format(format="text"), "", "is blank"),
        (
            Format(format="json", max_chars=4),
            "Paris",
            "is not JSON: invalid character (column 1); has 5 characters, over 4",
        ),
    ],
)
def test_the_reason_says_everything_that_is_wrong(
    check: Format, response: str, reason: str
) -> None:
    assert check.check(said(response), Case(id="a")).reason == reason
