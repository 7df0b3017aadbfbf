"""`must_contain_any`."""

from __future__ import annotations

import pytest

from steelyard.checks.must_contain_any import MustContainAny
from steelyard.errors import SettingError
from steelyard.model.case import Case
from strategies.traces import said

PLACES = ("Paris", "Île-de-France")


@pytest.mark.parametrize(
    ("response", "passed"),
    [
        ("Paris, of course", True),
        ("PARIS", True),
        ("it is in île-de-FRANCE", True),
        ("comparison", True),
        ("Lyon", False),
        ("Par\nis", False),
        ("", False),
    ],
)
def test_one_phrase_in_the_response_is_enough(response: str, passed: bool) -> None:
    outcome = MustContainAny(phrases=PLACES).check(said(response), Case(id="a"))

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(
    ("response", "ignore_case", "passed"),
    [
        ("STRASSE", True, True),
        ("STRASSE", False, False),
        ("die Straße", False, True),
        ("die straße", False, False),
    ],
)
def test_case_is_ignored_by_unicode_rules_unless_it_counts(
    response: str, ignore_case: bool, passed: bool
) -> None:
    check = MustContainAny(phrases=("Straße",), ignore_case=ignore_case)

    assert check.check(said(response), Case(id="a")).passed is passed


@pytest.mark.parametrize(("response", "passed"), [("about 4 of them", True), ("five", False)])
def test_without_phrases_the_answers_of_the_case_are_looked_for(
    response: str, passed: bool
) -> None:
    """CR-08"""
    case = Case(id="a", reference_answers=("4", "four"))

    assert MustContainAny().check(said(response), case).passed is passed


def test_without_phrases_and_answers_it_is_skipped() -> None:
    """CR-08"""
    outcome = MustContainAny().check(said("4"), Case(id="a"))

    assert outcome.status == "skipped"
    assert outcome.reason == "the check has no phrases and the case no reference answer"


def test_an_empty_phrase_is_refused_because_every_response_contains_it() -> None:
    """CR-10"""
    with pytest.raises(SettingError, match="must not be empty") as caught:
        MustContainAny(phrases=("a", ""))

    assert caught.value.name == "phrases"


@pytest.mark.parametrize(
    ("phrases", "response", "reason"),
    [
        (PLACES, "Paris", "contains 'Paris'"),
        (PLACES, "Lyon", "does not contain 'Paris' nor 1 other(s)"),
        (("Paris",), "Lyon", "does not contain 'Paris'"),
    ],
)
def test_the_reason_names_a_phrase(phrases: tuple[str, ...], response: str, reason: str) -> None:
    check = MustContainAny(phrases=phrases)

    assert check.check(said(response), Case(id="a")).reason == reason
