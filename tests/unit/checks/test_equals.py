"""`equals`."""

from __future__ import annotations

import pytest

from steelyard.checks.equals import Equals
from steelyard.model.case import Case
from steelyard.model.message import Message
from strategies.traces import said


@pytest.mark.parametrize(
    ("check", "response", "passed"),
    [
        (Equals(value="Paris"), "Paris", True),
        (Equals(value="Paris"), "  Paris\n", True),
        (Equals(value=" Paris "), "Paris", True),
        (Equals(value="Paris"), "paris", False),
        (Equals(value="Paris"), "Paris.", False),
        (Equals(value="Paris"), "", False),
        (Equals(value=""), "", True),
        (Equals(value=""), " \n", True),
        (Equals(value="Paris", strip=False), "Paris ", False),
        (Equals(value="Paris", strip=False), "Paris", True),
        (Equals(value="Straße", ignore_case=True), "STRASSE", True),
        (Equals(value="Straße"), "STRASSE", False),
    ],
)
def test_the_response_must_be_the_value(check: Equals, response: str, passed: bool) -> None:
    outcome = check.check(said(response), Case(id="a"))

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(
    ("response", "passed"), [("4", True), ("four", True), ("FOUR", False), ("five", False)]
)
def test_any_reference_answer_of_the_case_will_do(response: str, passed: bool) -> None:
    """CR-08"""
    case = Case(id="a", reference_answers=("4", "four"))

    assert Equals().check(said(response), case).passed is passed


def test_the_last_expected_message_is_a_reference_answer() -> None:
    case = Case(id="a", expected_messages=(Message(role="assistant", content="4"),))

    assert Equals().check(said("4"), case).passed


def test_a_value_goes_before_the_answers_of_the_case() -> None:
    case = Case(id="a", reference_answers=("4",))

    assert not Equals(value="5").check(said("4"), case).passed


def test_without_value_and_answer_it_is_skipped() -> None:
    """CR-08"""
    outcome = Equals().check(said("4"), Case(id="a"))

    assert (outcome.status, outcome.score, outcome.passed) == ("skipped", None, None)
    assert outcome.reason == "the case has no reference answer and the check no value"


@pytest.mark.parametrize(
    ("response", "reason"),
    [("yes", "equals 'yes'"), ("no", "expected 'yes', got 'no'")],
)
def test_the_reason_shows_both_texts(response: str, reason: str) -> None:
    assert Equals(value="yes").check(said(response), Case(id="a")).reason == reason
