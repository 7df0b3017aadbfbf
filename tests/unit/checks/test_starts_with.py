"""`starts_with`."""

from __future__ import annotations

import pytest

from steelyard.checks.starts_with import StartsWith
from steelyard.errors import SettingError
from steelyard.model.case import Case
from strategies.traces import said


@pytest.mark.parametrize(
    ("check", "response", "passed"),
    [
        (StartsWith(value="Yes"), "Yes, of course", True),
        (StartsWith(value="Yes"), "\n  Yes", True),
        (StartsWith(value="  Yes"), "Yes", True),
        (StartsWith(value="Yes "), "Yes", False),
        (StartsWith(value="Yes"), "yes", False),
        (StartsWith(value="Yes", ignore_case=True), "YES!", True),
        (StartsWith(value="STRASSE", ignore_case=True), "Straße 7", True),
        (StartsWith(value="Yes"), "Oh yes", False),
        (StartsWith(value="Yes"), "", False),
    ],
)
def test_the_response_must_begin_with_the_value(
    check: StartsWith, response: str, passed: bool
) -> None:
    outcome = check.check(said(response), Case(id="a"))

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("Yes.", "begins with 'Yes'"),
        ("No.\nNever. " + "x" * 60, "expected 'Yes' first, got 'No. Never. " + "x" * 8 + "…'"),
    ],
)
def test_the_reason_shows_the_beginning(response: str, reason: str) -> None:
    assert StartsWith(value="Yes").check(said(response), Case(id="a")).reason == reason


@pytest.mark.parametrize("value", ["", " \n"])
def test_a_blank_value_is_refused_because_every_response_begins_with_it(value: str) -> None:
    with pytest.raises(SettingError, match="must not be blank") as caught:
        StartsWith(value=value)

    assert caught.value.name == "value"
