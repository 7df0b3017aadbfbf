"""Three kinds of score, each as a field and as a number."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.scripted_judges import a_judge
from steelyard.judging.answer_schema import values_shown
from steelyard.judging.coercion import read_value
from steelyard.judging.score_types import score_field, score_of
from steelyard.model.judge import Judge

BINARY = a_judge(score_type="binary")
CONTINUOUS = a_judge(score_type="continuous")
TENTHS = a_judge(extra={"step": 0.1})
LEVELS = a_judge(score_type="levels", level_names=("no", "partly", "mostly", "yes"))


@pytest.mark.parametrize(
    ("judge", "said", "score"),
    [
        (BINARY, 1, 1.0),
        (BINARY, 0, 0.0),
        (BINARY, "pass", 1.0),
        (BINARY, "Fail", 0.0),
        (BINARY, True, 1.0),
        (CONTINUOUS, 0, 0.0),
        (CONTINUOUS, 0.95, 0.95),
        (CONTINUOUS, "0.4", 0.4),
        (CONTINUOUS, 1, 1.0),
        (TENTHS, 0.4, 0.4),
        (TENTHS, 0.94, 0.9),
        (TENTHS, 0.95, 1.0),
        (TENTHS, "0.25", 0.3),
        (LEVELS, "no", 0.0),
        (LEVELS, "partly", 1 / 3),
        (LEVELS, "Mostly", 2 / 3),
        (LEVELS, "yes", 1.0),
    ],
)
def test_what_a_judge_says_is_a_number(judge: Judge, said: Any, score: float) -> None:
    value = read_value(score_field(judge), said).value

    assert value is not None
    assert score_of(judge, value) == pytest.approx(score)


@pytest.mark.parametrize(
    ("judge", "said"),
    [(BINARY, 0.5), (BINARY, 2), (CONTINUOUS, 7), (CONTINUOUS, "7/10"), (LEVELS, 1)],
)
def test_off_its_scale_a_judge_says_nothing(judge: Judge, said: Any) -> None:
    assert read_value(score_field(judge), said).value is None


@pytest.mark.parametrize(
    ("judge", "text"),
    [
        (BINARY, "one of 0 (fail), 1 (pass)"),
        (CONTINUOUS, "a number from 0 (worst) to 1 (best) in steps of 0.05"),
        (TENTHS, "a number from 0 (worst) to 1 (best) in steps of 0.1"),
        (LEVELS, 'one of "no", "partly", "mostly", "yes"'),
    ],
)
def test_a_judge_is_told_what_it_may_say(judge: Judge, text: str) -> None:
    assert values_shown(score_field(judge)).startswith(text)
