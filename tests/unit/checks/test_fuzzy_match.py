"""`fuzzy_match`."""

from __future__ import annotations

import pytest

from steelyard.checks.fuzzy_match import FuzzyMatch
from steelyard.model.case import Case
from strategies.traces import said


@pytest.mark.parametrize(
    ("values", "response", "passed"),
    [
        (("Paris",), "paris.", True),
        (("Paris",), "The capital is Paris, of course", True),
        (("The city of Paris",), "Paris", True),
        (("the  Seine",), "A Seine!", True),
        (("con-cat",), "concatenate", True),
        (("Paris",), "Lyon", False),
        (("Paris", "Lyon"), "lyon", True),
        (("...",), "Paris", False),
        (("...",), "the", True),
        (("Paris",), "", False),
    ],
)
def test_either_may_contain_the_other_loosely_read(
    values: tuple[str, ...], response: str, passed: bool
) -> None:
    outcome = FuzzyMatch(values=values).check(said(response), Case(id="a"))

    assert outcome.passed is passed


def test_without_values_the_reference_answers_count() -> None:
    check = FuzzyMatch()

    assert check.check(said("42!"), Case(id="a", reference_answers=("42",))).passed
    assert check.check(said("42"), Case(id="a")).status == "skipped"


def test_the_reason_shows_both_texts() -> None:
    outcome = FuzzyMatch(values=("Paris",)).check(said("Lyon"), Case(id="a"))

    assert outcome.reason == "neither of 'Lyon' and 'Paris' contains the other"
