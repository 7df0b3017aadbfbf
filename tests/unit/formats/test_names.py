from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.formats.names import did_you_mean, near_miss

KNOWN = ("id", "tags", "input", "expected_facts", "expected_outcome", "max_latency_ms")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        # one or two slips of the pen
        ("expected_fact", "expected_facts"),
        ("expcted_fcts", "expected_facts"),
        ("expected_outcomes", "expected_outcome"),
        ("imput", "input"),
        ("inputs", "input"),
        # two letters that changed places are one slip
        ("inptu", "input"),
        ("epxected_otucome", "expected_outcome"),
        ("tgas", "tags"),
        # case, hyphens and underscores do not count, however many
        ("EXPECTED-OUTCOME", "expected_outcome"),
        ("expectedOutcome", "expected_outcome"),
        ("maxLatencyMs", "max_latency_ms"),
        ("MAXLATENCYMS", "max_latency_ms"),
        ("max-latency-ms", "max_latency_ms"),
        ("ID", "id"),
        ("i_d", "id"),
        # names under five letters may differ by one
        ("ids", "id"),
        ("tag", "tags"),
        ("tagss", "tags"),
    ],
)
def test_a_misspelt_name_is_understood(name: str, meant: str) -> None:
    assert near_miss(name, KNOWN) == meant


@pytest.mark.parametrize(
    "name",
    [
        "expected_fa",
        "prompt",
        "answer",
        "",
        # two slips in a short name
        "tg",
        "taxi",
        "rags2",
        "idea",
        # two slips, and the shorter of the two names has fewer than five letters
        "npt",
        "inpx",
        "EXPECTED-OUTCOME-TEXT",
    ],
)
def test_another_name_is_not_a_misspelling(name: str) -> None:
    assert near_miss(name, KNOWN) is None


def test_two_slips_beside_a_swap_are_too_many() -> None:
    assert near_miss("inptuus", ["input"]) is None


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("inputt", ["inputts", "input"], "input"),
        ("color", ["colors", "colour"], "colors"),
        ("Colour", ["colours", "colour"], "colour"),
    ],
)
def test_the_nearest_name_wins_then_the_first_by_alphabet(
    name: str, known: list[str], meant: str
) -> None:
    assert near_miss(name, known) == meant


def test_nothing_is_near_when_nothing_is_known() -> None:
    assert near_miss("input", []) is None


def test_the_hint_is_a_question() -> None:
    assert did_you_mean("expected_fact", KNOWN) == "did you mean 'expected_facts'?"


def test_there_is_no_hint_for_a_strange_name() -> None:
    assert did_you_mean("colour", KNOWN) is None


@given(st.sampled_from(KNOWN))
def test_a_known_name_is_nearest_to_itself(name: str) -> None:
    assert near_miss(name, KNOWN) == name


@given(st.sampled_from(("expected_outcome", "max_latency_ms", "records")), st.data())
def test_one_lost_letter_of_a_long_name_is_understood(name: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(name) - 1))

    assert near_miss(name[:place] + name[place + 1 :], [name]) == name
