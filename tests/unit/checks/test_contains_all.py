"""`contains_all`."""

from __future__ import annotations

import pytest

from steelyard.checks.contains_all import ContainsAll
from steelyard.errors import SettingError
from steelyard.model.case import Case
from strategies.traces import said

PLACES = ("Paris", "Île-de-France", "Seine")


@pytest.mark.parametrize(
    ("response", "score"),
    [
        ("Paris on the Seine, in île-de-FRANCE", 1.0),
        ("PARIS on the SEINE", 2 / 3),
        ("Seine", 1 / 3),
        ("Lyon", 0.0),
        ("", 0.0),
    ],
)
def test_the_score_is_the_share_of_phrases_and_all_must_be_there(
    response: str, score: float
) -> None:
    outcome = ContainsAll(phrases=PLACES).check(said(response), Case(id="a"))

    assert outcome.score == pytest.approx(score)
    assert outcome.passed is (score == 1)


@pytest.mark.parametrize(("ignore_case", "passed"), [(True, True), (False, False)])
def test_case_counts_when_it_is_asked_for(ignore_case: bool, passed: bool) -> None:
    check = ContainsAll(phrases=("Paris", "SEINE"), ignore_case=ignore_case)

    assert check.check(said("paris, Seine"), Case(id="a")).passed is passed


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("Paris, Seine, Île-de-France", "contains all of 3 phrase(s)"),
        ("Paris", "lacks 2 of 3 phrase(s), such as 'Île-de-France'"),
    ],
)
def test_the_reason_names_what_is_missing(response: str, reason: str) -> None:
    assert ContainsAll(phrases=PLACES).check(said(response), Case(id="a")).reason == reason


def test_an_empty_phrase_is_refused_because_every_response_contains_it() -> None:
    """CR-10"""
    with pytest.raises(SettingError, match="must not be empty") as caught:
        ContainsAll(phrases=("a", ""))

    assert caught.value.name == "phrases"
