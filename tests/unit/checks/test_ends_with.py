"""`ends_with`."""

from __future__ import annotations

import pytest

from steelyard.checks.ends_with import EndsWith
from steelyard.errors import SettingError
from steelyard.model.case import Case
from strategies.traces import said


@pytest.mark.parametrize(
    ("check", "response", "passed"),
    [
        (EndsWith(value="END"), "that is it. END", True),
        (EndsWith(value="END"), "END \n\n", True),
        (EndsWith(value="END\n"), "END", True),
        (EndsWith(value=" END"), "END", False),
        (EndsWith(value="END"), "end", False),
        (EndsWith(value="END", ignore_case=True), "the end", True),
        (EndsWith(value="END"), "END.", False),
        (EndsWith(value="END"), "", False),
    ],
)
def test_the_response_must_end_with_the_value(
    check: EndsWith, response: str, passed: bool
) -> None:
    outcome = check.check(said(response), Case(id="a"))

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("The END", "ends with 'END'"),
        ("x" * 90 + " and\nso on ", "expected 'END' last, got '" + "x" * 50 + " and so on'"),
    ],
)
def test_the_reason_shows_the_end(response: str, reason: str) -> None:
    assert EndsWith(value="END").check(said(response), Case(id="a")).reason == reason


@pytest.mark.parametrize("value", ["", " \n"])
def test_a_blank_value_is_refused_because_every_response_ends_with_it(value: str) -> None:
    with pytest.raises(SettingError, match="must not be blank") as caught:
        EndsWith(value=value)

    assert caught.value.name == "value"
