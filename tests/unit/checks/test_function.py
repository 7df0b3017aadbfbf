"""A function of the user's as a check."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from steelyard.checks.function import function_check
from steelyard.errors import InvalidError
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

CASE = Case(id="a")


def passes(trace: Trace, case: Case) -> bool:
    """One that always passes."""
    return case.id == "a" and not trace.messages


def returning(value: object) -> Callable[..., Any]:
    """A function that returns a value whatever it gets."""

    def function(_trace: Trace, _case: Case) -> object:
        return value

    return function


@pytest.mark.parametrize(
    ("value", "score", "passed"),
    [
        (True, 1.0, True),
        (False, 0.0, False),
        (1, 1.0, True),
        (0.7, 0.7, True),
        (0.69, 0.69, False),
    ],
)
def test_bools_and_scores_become_outcomes(value: object, score: float, passed: bool) -> None:
    found = function_check(returning(value)).check(Trace(), CASE)

    assert (found.status, found.score, found.passed) == ("scored", score, passed)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "returned nan, which is no score in [0, 1]"),
        (1.5, "returned 1.5, which is no score in [0, 1]"),
        (-1, "returned -1, which is no score in [0, 1]"),
        (None, "returned NoneType, not a bool, a number or an Outcome"),
        ("yes", "returned str, not a bool, a number or an Outcome"),
    ],
)
def test_anything_else_is_unscored_with_its_reason(value: object, reason: str) -> None:
    found = function_check(returning(value)).check(Trace(), CASE)

    assert (found.status, found.score, found.reason) == ("unscored", None, reason)


def test_an_outcome_stays_as_it_is() -> None:
    made = Outcome.failing("too rude")

    assert function_check(returning(made)).check(Trace(), CASE) is made


def test_an_async_function_is_awaited() -> None:
    async def kind(trace: Trace, case: Case) -> float:
        return 0.9 if passes(trace, case) else 0.0

    assert function_check(kind).check(Trace(), CASE).score == 0.9


def test_a_check_is_named_after_its_function() -> None:
    made = [function_check(one).kind for one in (passes, partial(passes), returning(True))]

    assert made == ["passes", "passes", "function"]


def test_the_hash_is_that_of_the_source() -> None:
    other = function_check(returning(True))

    assert function_check(passes) == function_check(passes)
    assert function_check(passes).source_sha256 != other.source_sha256


def test_a_function_of_other_arguments_is_refused() -> None:
    def check(answer: str) -> bool:
        return bool(answer)

    with pytest.raises(InvalidError, match=r"check cannot be called with \(trace, case\)"):
        function_check(check)
