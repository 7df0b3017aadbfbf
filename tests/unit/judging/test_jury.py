"""Several judges, six ways to one score, and nothing made of jurors that did not answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fakes.scripted_judges import Line, ScriptedAsker, a_judge, answer, judged, said
from steelyard.errors import TargetError
from steelyard.judging.jury import Aggregation, Juror, Jury, disagreement, weighted_median
from steelyard.model.judgement import JudgeCall
from steelyard.model.outcome import Outcome

TIMEOUT = TargetError("timeout", "late")


def verdict(
    *lines: Line, weights: tuple[float, ...] = (), aggregation: Aggregation = "mean", **more: Any
) -> Outcome:
    """What a jury says whose members say these things, each a judge of its own."""
    jurors = tuple(
        Juror(judge=a_judge(id=f"j{n}"), weight=weights[n] if weights else 1.0)
        for n in range(len(lines))
    )

    def script(call: JudgeCall) -> Line:
        return lines[int(call.judge.id[1:])]

    jury = Jury(jurors=jurors, aggregation=aggregation, **more)
    return judged(jury, ScriptedAsker(script))


SCORES = (answer(1), answer(0.9), answer(0.2))


@pytest.mark.parametrize(
    ("aggregation", "score", "passed"),
    [
        ("mean", 0.7, True),
        ("median", 0.9, True),
        ("min", 0.2, False),
        ("max", 1.0, True),
        ("majority", 2 / 3, True),
        ("unanimous", 2 / 3, False),
    ],
)
def test_the_jurors_scores_become_one(
    aggregation: Aggregation, score: float, passed: bool
) -> None:
    found = verdict(*SCORES, aggregation=aggregation)

    assert found.score == pytest.approx(score)
    assert found.passed is passed


@pytest.mark.parametrize(
    ("aggregation", "score", "passed"),
    [
        ("mean", (2 + 0.9 + 1.4) / 10, False),
        ("median", 0.2, False),
        ("min", 0.2, False),
        ("majority", 0.3, False),
        ("unanimous", 0.3, False),
    ],
)
def test_weights_count(aggregation: Aggregation, score: float, passed: bool) -> None:
    found = verdict(*SCORES, weights=(2, 1, 7), aggregation=aggregation)

    assert found.score == pytest.approx(score)
    assert found.passed is passed


@pytest.mark.parametrize("aggregation", ["min", "unanimous", "majority", "mean", "median"])
def test_a_juror_without_weight_is_heard_and_does_not_count(aggregation: Aggregation) -> None:
    found = verdict(answer(1), answer(0), weights=(1, 0), aggregation=aggregation)

    assert (found.score, found.passed) == (1.0, True)
    assert found.details["answered"] == 2


@pytest.mark.parametrize(
    ("lines", "weights", "reason"),
    [
        ((answer(1), answer(0)), (0, 0), "no juror has any weight"),
        ((TIMEOUT, answer(1)), (1, 0), "0 of 1 jurors with a weight answered: timeout: late"),
        (
            (answer(1), TIMEOUT, TIMEOUT, answer(1)),
            (1, 1, 1, 0),
            "1 of 3 jurors with a weight answered: timeout: late",
        ),
    ],
)
def test_jurors_without_weight_decide_nothing(
    lines: tuple[Line, ...], weights: tuple[float, ...], reason: str
) -> None:
    found = verdict(*lines, weights=weights)

    assert (found.status, found.score, found.reason) == ("unscored", None, reason)


@pytest.mark.parametrize("aggregation", ["mean", "median", "majority"])
@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_weights_of_any_size_count(aggregation: Aggregation, weight: float) -> None:
    found = verdict(answer(0.9), answer(0.9), weights=(weight, weight), aggregation=aggregation)

    assert found.score == (1.0 if aggregation == "majority" else 0.9)


def test_half_is_no_majority() -> None:
    assert verdict(answer(1), answer(0), aggregation="majority").passed is False


def test_the_threshold_is_the_jurys_and_each_jurors() -> None:
    lines = (answer(0.6), answer(0.6), answer(0.1))

    assert verdict(*lines, threshold=0.5, aggregation="majority").passed is True
    assert verdict(*lines, aggregation="majority").passed is False
    assert verdict(*lines, threshold=0.4).passed is True


@pytest.mark.parametrize(
    ("lines", "score"),
    [
        ((answer(1), TIMEOUT), 1.0),
        ((answer(1), answer(0), TIMEOUT), 0.5),
        ((answer(1), TIMEOUT, TIMEOUT), None),
        ((TIMEOUT,), None),
        ((answer(1), said("", refusal="no"), "bad", answer(0)), 0.5),
    ],
)
def test_at_least_half_of_the_jurors_must_answer(
    lines: tuple[Line, ...], score: float | None
) -> None:
    found = verdict(*lines)

    assert found.score == score
    assert found.status == ("scored" if score is not None else "unscored")


def test_a_jury_without_enough_answers_says_why() -> None:
    found = verdict(answer(1), TIMEOUT, said("", refusal="no"))

    assert found.reason == (
        "1 of 3 jurors with a weight answered: timeout: late; refusal: the judge refused to answer"
    )
    assert found.passed is None


def test_what_each_juror_said_is_in_the_details() -> None:
    found = verdict(answer(1, reasoning="fine"), answer(0.2), TIMEOUT, weights=(2, 1, 1))

    jurors: Any = found.details["jurors"]
    assert [row["score"] for row in jurors] == [1.0, 0.2, None]
    assert [row["passed"] for row in jurors] == [True, False, None]
    assert [row["status"] for row in jurors] == ["scored", "scored", "unscored"]
    assert (jurors[0]["judge"], jurors[0]["weight"]) == ("judge/j0@1.0.0", 2)
    assert jurors[0]["reason"] == "fine"
    assert jurors[0]["calls"][0]["rung"] == "native"
    assert found.details["is_split"] is True
    assert found.details["disagreement"] == pytest.approx(0.8)
    assert found.reason == "mean 0.73; 1 of 2 jurors pass it, 1 without a score"
    assert found.judge == "judge/j0@1.0.0, judge/j1@1.0.0, judge/j2@1.0.0"


def test_jurors_that_agree_are_not_split() -> None:
    found = verdict(answer(1), answer(0.8))

    assert found.details["is_split"] is False
    assert found.reason == "mean 0.90; 2 of 2 jurors pass it"


def test_each_juror_is_asked_at_its_own_target() -> None:
    asker = ScriptedAsker(lambda call: answer(1 if call.target == "a" else 0))
    jurors = (Juror(judge=a_judge(), target="a"), Juror(judge=a_judge(), target="b"))

    found = judged(Jury(jurors=jurors), asker)

    assert found.score == 0.5
    assert [call.target for call in asker.calls] == ["a", "b"]


def test_a_judge_that_sits_twice_is_asked_twice() -> None:
    asker = ScriptedAsker(lambda _: answer(1))

    judged(Jury(jurors=(Juror(judge=a_judge()), Juror(judge=a_judge()))), asker)

    assert len(asker.calls) == 2


def test_a_juror_may_be_asked_for_several_samples() -> None:
    asker = ScriptedAsker(lambda call: answer(call.sample % 2))

    found = judged(Jury(jurors=(Juror(judge=a_judge(), samples=4),)), asker)

    assert found.score == 0.5


@pytest.mark.parametrize(
    ("scores", "weights", "median"),
    [
        ([1], [1], 1),
        ([0, 1], [1, 1], 0.5),
        ([0, 1, 1], [1, 1, 1], 1),
        ([0, 0.4, 1, 1], [1, 1, 1, 1], 0.7),
        ([0.2, 0.9], [3, 1], 0.2),
        ([0.9, 0.2], [1, 1.001], 0.2),
        ([0.3, 0.3], [1, 1], 0.3),
        ([0, 0.4, 1], [1e-12, 1e-12, 1e-12], 0.4),
        ([0, 0.4, 1], [1e12, 1e12, 1e12], 0.4),
    ],
)
def test_the_weighted_median(scores: list[float], weights: list[float], median: float) -> None:
    assert weighted_median(scores, weights) == pytest.approx(median)


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0.01, 100)),
        min_size=1,
        max_size=6,
    )
)
@example([(5e-324, 1.0), (5e-324, 1.0)])
@example([(5e-324, 1.0), (1.5e-323, 1.0)])
@example([(2e-13, 1.0), (4e-13, 1.0)])
def test_the_weighted_median_is_within_the_scores(pairs: list[tuple[float, float]]) -> None:
    scores, weights = [one for one, _ in pairs], [weight for _, weight in pairs]

    assert min(scores) <= weighted_median(scores, weights) <= max(scores)


@pytest.mark.parametrize(
    ("scores", "apart"), [([], 0.0), ([1.0], 0.0), ([0.0, 1.0], 1.0), ([0.0, 0.5, 1.0], 2 / 3)]
)
def test_disagreement_is_the_mean_distance_of_pairs(scores: list[float], apart: float) -> None:
    assert disagreement(scores) == pytest.approx(apart)
