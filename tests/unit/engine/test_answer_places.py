"""Where an answer is kept is found again by its question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine import answer_places
from steelyard.engine.answer_places import AnswerPlace, AnswerPlaces

places = st.builds(
    AnswerPlace,
    st.sampled_from(["run_1", "run_2", "run_3"]),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**16 - 1),
)


@given(st.dictionaries(st.binary(min_size=16, max_size=16), places))
def test_every_place_is_found_by_its_question_and_by_no_other(
    kept: dict[bytes, AnswerPlace],
) -> None:
    known = AnswerPlaces()
    for key, place in kept.items():
        known.add(key, *place)

    assert {key: known.find(key) for key in kept} == kept
    assert known.find(b"another") is None


def test_a_later_answer_takes_the_place_of_an_earlier_one() -> None:
    known = AnswerPlaces()
    known.add(b"k", "run_1", 1, 0)
    known.add(b"k", "run_2", 2, 3)

    assert known.find(b"k") == ("run_2", 2, 3)


def test_thousands_of_answers_are_all_found() -> None:
    known = AnswerPlaces()
    for index in range(5000):
        known.add(b"%d" % index, "run_1", index, index % 7)

    assert [known.find(b"%d" % index) for index in range(5000)] == [
        ("run_1", index, index % 7) for index in range(5000)
    ]


def test_questions_whose_hashes_are_neighbours_do_not_meet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = 1024  # the last slot, and round to the first
    marks = {b"a": size - 1, b"b": 2 * size - 1, b"c": 3 * size - 1}
    monkeypatch.setattr(answer_places, "_mark", marks.__getitem__)
    known = AnswerPlaces()
    for index, key in enumerate(marks):
        known.add(key, "run_1", index, 0)

    assert [known.find(key) for key in marks] == [("run_1", index, 0) for index in range(3)]


@pytest.mark.parametrize(
    ("index", "repeat", "is_found"),
    [(2**32 - 1, 2**16 - 1, True), (2**32, 0, False), (0, 2**16, False)],
)
def test_what_does_not_fit_is_not_remembered(index: int, repeat: int, is_found: bool) -> None:
    known = AnswerPlaces()
    known.add(b"k", "run_1", index, repeat)

    assert (known.find(b"k") == ("run_1", index, repeat)) is is_found


def test_more_runs_than_fit_are_not_remembered() -> None:
    known = AnswerPlaces()
    for number in range(2**16 + 1):
        known.add(b"%d" % number, f"run_{number}", 0, 0)

    assert known.find(b"%d" % (2**16 - 1)) == (f"run_{2**16 - 1}", 0, 0)
    assert known.find(b"%d" % 2**16) is None


def test_a_question_is_known_from_when_on_its_place_is() -> None:
    known = AnswerPlaces()
    known.note(b"k")
    assert b"k" not in known

    known.add(b"k", "run_1", 0, 0)
    assert b"k" in known
    assert b"l" not in known
