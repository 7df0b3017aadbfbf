"""Samples for people: by lot, with chances that are known and never 0."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from steelyard.errors import RequestError
from steelyard.model.labels.assignment import (
    Assigned,
    AssignmentChoice,
    Candidate,
    ChosenBy,
)
from steelyard.review.assignment import FLOOR, choose, stratum_of


def candidate(place: int, **more: Any) -> Candidate:
    made: dict[str, Any] = {"record_id": f"r{place}", "score": 0.5, "split": 0.0, **more}
    return Candidate(**made)


def chosen(candidates: list[Candidate], count: int, **more: Any) -> dict[str, float]:
    found = choose(candidates, AssignmentChoice(count=count, **more))
    return {one.candidate.record_id: one.inclusion_prob for one in found}


MANY = [candidate(place, score=place / 100) for place in range(100)]


@pytest.mark.parametrize("by", get_args(ChosenBy))
def test_a_sample_has_its_size_and_is_the_same_for_the_same_seed(by: ChosenBy) -> None:
    first = chosen(MANY, 20, by=by)

    assert len(first) == 20
    assert all(0 < chance <= 1 for chance in first.values())
    assert first == chosen(MANY, 20, by=by)
    assert first != chosen(MANY, 20, by=by, seed=1)


@pytest.mark.parametrize("by", get_args(ChosenBy))
def test_all_can_be_taken_and_no_more(by: ChosenBy) -> None:
    assert set(chosen(MANY, 100, by=by).values()) == {1.0}
    with pytest.raises(RequestError, match="101 records are asked for, and 100 can be chosen"):
        chosen(MANY, 101, by=by)


def test_the_nearer_to_the_threshold_the_likelier_and_nobody_is_shut_out() -> None:
    made = [
        candidate(0, score=0.7),
        candidate(1, score=0.35),
        candidate(2, score=0.0),
        candidate(3, score=None),
        candidate(4, score=1.0),
    ]
    found = chosen(made, 5 - 1, by="near_threshold", threshold=0.7, seed=3)
    sizes = {"r0": 1.0, "r1": FLOOR + 0.9 / 2, "r2": FLOOR, "r3": FLOOR, "r4": FLOOR + 0.9 * 4 / 7}

    free = {name: chance for name, chance in found.items() if chance < 1}
    ratios = {round(chance / sizes[name], 9) for name, chance in free.items()}
    assert len(ratios) == 1


def test_the_more_divided_the_jury_the_likelier() -> None:
    made = [candidate(place, split=float(place < 10)) for place in range(100)]
    found = chosen(made, 10, by="jury_split")

    assert len({round(chance, 9) for chance in found.values()}) == 2
    assert max(found.values()) == pytest.approx(min(found.values()) / FLOOR)


def test_without_a_jury_nobody_can_be_divided() -> None:
    with pytest.raises(RequestError, match="no response was looked at by a jury"):
        chosen([candidate(1, split=None)], 1, by="jury_split")


def test_a_record_without_a_jury_beside_others_keeps_a_chance() -> None:
    found = choose(
        [candidate(1, split=None), candidate(2, split=1.0)],
        AssignmentChoice(count=2, by="jury_split"),
    )

    assert len(found) == 2


@pytest.mark.parametrize(
    ("equal", "shares"), [(False, {"fail": 2, "pass": 8}), (True, {"fail": 5, "pass": 5})]
)
def test_strata_give_by_size_or_equally(equal: bool, shares: dict[str, int]) -> None:
    made = [
        candidate(place, strata=("fail",) if place < 20 else ("pass",)) for place in range(100)
    ]
    found: list[Assigned] = choose(
        made, AssignmentChoice(count=10, by="stratified", is_equal=equal)
    )
    sizes = {"fail": 20, "pass": 80}

    for name, wanted in shares.items():
        chances = [one.inclusion_prob for one in found if one.stratum == name]
        assert chances == [wanted / sizes[name]] * wanted


def test_too_few_for_all_strata_is_refused() -> None:
    made = [candidate(place, strata=(f"s{place}",)) for place in range(5)]
    with pytest.raises(RequestError, match="there are 5 strata"):
        chosen(made, 4, by="stratified")


@pytest.mark.parametrize(("strata", "name"), [(("b", "a"), "a + b"), (("a",), "a"), ((), "none")])
def test_a_record_is_in_one_stratum_alone(strata: tuple[str, ...], name: str) -> None:
    assert stratum_of(candidate(0, strata=strata)) == name
