"""How far scores moved between two gradings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.verdict_changes import ChangedVerdict, Graded, shift_of
from steelyard.results.projections import GradedCheck, GradedPrediction


def graded(
    index: int, score: float | None, *, repeat: int = 0, judge: str | None = None, **more: Any
) -> GradedPrediction:
    """A prediction; it passes from 0.5 on."""
    known: dict[str, Any] = {
        "status": "evaluation_error" if score is None else "evaluated",
        "passed": None if score is None else score >= 0.5,
    }
    return GradedPrediction(
        index=index,
        record_id=f"q{index}",
        record_sha256=None,
        repeat=repeat,
        score=score,
        evaluator_scores=(GradedCheck(check="c", kind="a", status="scored", judge=judge),),
        **{**known, **more},
    )


def rows(*scores: float | None, judge: str | None = None) -> list[GradedPrediction]:
    return [graded(index, score, judge=judge) for index, score in enumerate(scores)]


def test_the_same_scores_have_not_moved() -> None:
    found = shift_of(rows(0.0, 0.5, 1.0), rows(0.0, 0.5, 1.0))

    assert not found.has_moved
    assert (found.pairs, found.unpaired, found.moved) == (3, 0, ())
    assert (found.gained, found.lost, found.p_value) == (0, 0, 1.0)
    assert found.score.value == 0.0
    assert found.score.low == pytest.approx(-(found.score.high or 0.0))
    assert found.score.high == pytest.approx(0.56, abs=0.01)


def test_one_trace_that_moved_is_enough_without_a_judge() -> None:
    found = shift_of(rows(0.0, 0.5, 1.0), rows(0.0, 0.5, 0.9))

    assert found.has_moved
    assert not found.is_judged
    assert found.moved == (
        ChangedVerdict(2, "q2", 0, Graded("evaluated", 1.0, True), Graded("evaluated", 0.9, True)),
    )


def test_rounding_moves_nothing() -> None:
    assert not shift_of(rows(0.1 + 0.2), rows(0.3)).has_moved


def test_a_pass_that_changed_has_moved_at_the_same_score() -> None:
    found = shift_of([graded(0, 0.6)], [graded(0, 0.6, passed=False)])

    assert found.has_moved
    assert (found.gained, found.lost) == (0, 1)


@pytest.mark.parametrize(
    ("old", "new", "has_moved"),
    [
        (None, 1.0, True),
        (1.0, None, True),
        (None, None, False),
    ],
)
def test_a_score_that_came_or_went_has_moved(
    old: float | None, new: float | None, has_moved: bool
) -> None:
    found = shift_of(rows(1.0, old), rows(1.0, new))

    assert found.has_moved is has_moved
    assert (found.pairs, found.unpaired) == (1, 1)


def test_every_moved_trace_has_one_change_of_its_verdict() -> None:
    old = rows(1.0, 0.0, 0.9, None, 1.0, None, 1.0)
    new = rows(0.0, 1.0, 0.8, 0.0, None, None, 1.0)
    found = shift_of(old, new)

    changes = ["lost", "gained", "other", "appeared", "vanished"]
    assert [one.change for one in found.moved] == changes
    assert found.count("appeared", "vanished") == 2


def test_another_reason_for_no_score_has_moved() -> None:
    found = shift_of(rows(None), [graded(0, None, status="skipped")])

    assert found.has_moved


@pytest.mark.parametrize(
    ("old", "new", "has_moved"),
    [
        # one of six: what a judge may say the next time
        ([0.9, 0.8, 0.9, 0.7, 0.8, 0.9], [0.8, 0.8, 1.0, 0.7, 0.8, 0.9], False),
        # six of six lost: p = 1/32
        ([0.5] * 6, [0.49] * 6, True),
        # passes stay, scores fall throughout
        ([0.9] * 8, [0.8, 0.7, 0.8, 0.7, 0.8, 0.7, 0.8, 0.7], True),
        # five gained and five lost
        ([0.4, 0.6] * 5, [0.6, 0.4] * 5, False),
    ],
)
def test_what_judges_say_has_moved_beyond_chance_or_not(
    old: list[float], new: list[float], has_moved: bool
) -> None:
    found = shift_of(rows(*old, judge="judge/a@1.0.0"), rows(*new, judge="judge/a@1.1.0"))

    assert found.is_judged
    assert found.has_moved is has_moved
    assert found.moved


def test_the_repeats_of_a_case_count_as_one() -> None:
    old = [graded(0, 0.0, repeat=repeat) for repeat in range(3)] + [graded(1, 1.0)]
    new = [graded(0, 1.0, repeat=repeat) for repeat in range(3)] + [graded(1, 1.0)]
    found = shift_of(old, new)

    assert (found.pairs, found.gained, found.lost) == (4, 1, 0)
    assert [moved.repeat for moved in found.moved] == [0, 1, 2]
    assert (found.score.n, found.score.clusters, found.score.n_effective) == (4, 2, 1)
    assert (found.p_value, found.test) == (1.0, "cluster permutation test")


def test_the_records_of_a_conversation_count_as_one() -> None:
    old = [graded(index, 1.0, judge="j", cluster=f"c{index // 6}") for index in range(12)]
    new = [graded(index, 0.0, judge="j", cluster=f"c{index // 6}") for index in range(12)]
    found = shift_of(old, new)

    assert (found.lost, found.score.clusters) == (12, 2)
    assert found.p_value == 0.5
    assert not found.has_moved


def test_a_trace_that_only_the_second_grading_has_is_counted() -> None:
    found = shift_of(rows(1.0), rows(1.0, 0.0))

    assert (found.pairs, found.unpaired) == (1, 1)


def test_without_a_pair_nothing_judged_has_moved() -> None:
    found = shift_of(rows(None, judge="j"), rows(None, judge="j"))

    assert not found.has_moved
    assert found.score.value is None


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8))
def test_pairs_and_the_rest_are_all_traces(scores: list[float | None]) -> None:
    found = shift_of(rows(*scores), rows(*reversed(scores)))

    assert found.pairs + found.unpaired == len(scores)
