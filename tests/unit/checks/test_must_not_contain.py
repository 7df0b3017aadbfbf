"""`must_not_contain`."""

from __future__ import annotations

import pytest

from steelyard.checks.must_not_contain import MustNotContain
from steelyard.errors import SettingError
from steelyard.model.case import Case
from strategies.traces import said


@pytest.mark.parametrize(
    ("response", "ignore_case", "passed"),
    [
        ("All good", True, True),
        ("I'm sorry, no", True, False),
        ("I'M SORRY", True, False),
        ("I'M SORRY", False, True),
        ("GROSSE Ausnahme", True, False),
        ("GROSSE Ausnahme", False, True),
        ("", True, True),
    ],
)
def test_no_phrase_may_be_in_the_response(response: str, ignore_case: bool, passed: bool) -> None:
    check = MustNotContain(phrases=("I'm sorry", "große"), ignore_case=ignore_case)
    outcome = check.check(said(response), Case(id="a"))

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(
    ("response", "reason"),
    [("no", "contains 'no'"), ("yes", "contains none of 2 phrase(s)")],
)
def test_the_reason_names_what_was_found(response: str, reason: str) -> None:
    check = MustNotContain(phrases=("never", "no"))

    assert check.check(said(response), Case(id="a")).reason == reason


def test_an_empty_phrase_is_refused_because_every_response_contains_it() -> None:
    """CR-10"""
    with pytest.raises(SettingError, match="must not be empty"):
        MustNotContain(phrases=("",))
