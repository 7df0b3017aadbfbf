"""`fact_match`."""

from __future__ import annotations

import pytest

from steelyard.checks.fact_match import FactMatch
from steelyard.errors import SettingError
from steelyard.model.case import Case
from strategies.traces import said

FACTS = ("Paris is the capital", "It lies on the Seine", "2 million people live there")
ALL = "Paris, the capital, lies on the Seine. 2 million people live there."


@pytest.mark.parametrize(
    ("response", "score", "passed"),
    [
        (ALL, 1.0, True),
        ("Paris is the capital and lies on the Seine.", 2 / 3, False),
        ("Paris is the capital.", 1 / 3, False),
        ("Lyon.", 0.0, False),
        ("", 0.0, False),
    ],
)
def test_the_share_of_facts_found_must_reach_the_threshold(
    response: str, score: float, passed: bool
) -> None:
    outcome = FactMatch(facts=FACTS).check(said(response), Case(id="a"))

    assert outcome.score == pytest.approx(score)
    assert outcome.passed is passed


@pytest.mark.parametrize(
    ("threshold", "passed"), [(0.0, True), (0.5, True), (0.51, False), (1.0, False)]
)
def test_a_share_equal_to_the_threshold_passes(threshold: float, passed: bool) -> None:
    check = FactMatch(facts=("Paris", "Lyon"), threshold=threshold)

    assert check.check(said("Paris"), Case(id="a")).passed is passed


def test_without_facts_those_of_the_case_are_looked_for() -> None:
    """CR-08"""
    case = Case(id="a", expected={"expected_facts": ["Paris", "Seine"]})

    assert FactMatch().check(said("Paris, Seine"), case).score == 1
    assert FactMatch(facts=("Lyon",)).check(said("Paris, Seine"), case).score == 0


@pytest.mark.parametrize("case", [Case(id="a"), Case(id="a", expected={"expected_facts": []})])
def test_without_any_fact_it_is_skipped(case: Case) -> None:
    """CR-08"""
    outcome = FactMatch().check(said(ALL), case)

    assert outcome.status == "skipped"
    assert outcome.reason == "neither the check nor the case states facts"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (ALL, "3 of 3 fact(s) found"),
        ("2 million people live there, on the Seine", "1 of 3 fact(s) found"),
        ("Lyon", "0 of 3 fact(s) found; missing: 'Paris is the capital' and 2 more"),
    ],
)
def test_the_reason_counts_and_shows_what_is_missing(response: str, reason: str) -> None:
    outcome = FactMatch(facts=FACTS).check(said(response), Case(id="a"))

    assert outcome.reason.startswith(reason)


@pytest.mark.parametrize("fact", ["", " \n"])
def test_a_blank_fact_is_refused(fact: str) -> None:
    """CR-10"""
    with pytest.raises(SettingError, match="must not be blank") as caught:
        FactMatch(facts=("Paris", fact))

    assert caught.value.name == "facts"
