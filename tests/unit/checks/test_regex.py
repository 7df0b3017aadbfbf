"""`regex`."""

from __future__ import annotations

import time

import pytest

from steelyard.checks.regex import Regex
from steelyard.errors import SettingError
from steelyard.model.case import Case
from strategies.traces import said


@pytest.mark.parametrize(
    ("check", "response", "passed"),
    [
        (Regex(pattern=r"\d{4}"), "in 1984, or so", True),
        (Regex(pattern=r"\d{4}"), "in 84", False),
        (Regex(pattern=r"\d{4}"), "", False),
        (Regex(pattern=r"^$"), "", True),
        (Regex(pattern=r"\d{4}", match="full"), "1984", True),
        (Regex(pattern=r"\d{4}", match="full"), "1984!", False),
        (Regex(pattern=r"a|ab", match="full"), "ab", True),
        (Regex(pattern="paris"), "PARIS", False),
        (Regex(pattern="(?i)paris"), "PARIS", True),
        (Regex(pattern="(?i)élan"), "ÉLAN", True),
        (Regex(pattern=r"^b$"), "a\nb", False),
        (Regex(pattern=r"(?m)^b$"), "a\nb", True),
        (Regex(pattern=r"a.c"), "a\nc", False),
        (Regex(pattern=r"(?s)a.c"), "a\nc", True),
        (Regex(pattern=r"\p{Greek}+"), "the λόγος", True),
    ],
)
def test_the_pattern_must_match(check: Regex, response: str, passed: bool) -> None:
    outcome = check.check(said(response), Case(id="a"))

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(?=x)y", "invalid perl operator: (?="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("[", "missing ]: ["),
        ("a{2000}", "invalid repetition size: {2000}"),
    ],
)
def test_a_pattern_that_could_take_long_or_is_none_is_refused(pattern: str, reason: str) -> None:
    """CR-09"""
    with pytest.raises(SettingError) as caught:
        Regex(pattern=pattern)

    assert caught.value.name == "pattern"
    assert str(caught.value) == f"not a pattern RE2 knows: {reason}"


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "(.*.*)*x$", r"(\w+\s?)+$"])
def test_no_pattern_takes_more_than_linear_time(pattern: str) -> None:
    """CR-09"""
    check = Regex(pattern=pattern)
    started = time.process_time()
    outcome = check.check(said("a" * 100_000 + "!"), Case(id="a"))

    assert not outcome.passed
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("response", "reason"),
    [("in 1984", r"matches '\\d+': '1984'"), ("never", r"does not match '\\d+'")],
)
def test_the_reason_shows_the_match(response: str, reason: str) -> None:
    assert Regex(pattern=r"\d+").check(said(response), Case(id="a")).reason == reason


def test_checks_with_the_same_settings_are_equal() -> None:
    assert Regex(pattern="a") == Regex(pattern="a")
    assert Regex(pattern="a") != Regex(pattern="a", match="full")


def test_what_matches_is_shown_in_whole_characters() -> None:
    outcome = Regex(pattern=r"\p{Greek}+").check(said("ἐν ἀρχῇ: λόγος"), Case(id="a"))

    assert outcome.reason == r"matches '\\p{Greek}+': 'ἐν'"
