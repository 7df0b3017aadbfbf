"""Contract 2's retry policy, to the letter."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.retries import retry_wait
from steelyard.errors import TargetError
from steelyard.settings import RetrySettings

CHANCE = random.Random(0)
TRANSIENT = ["timeout", "rate_limited", "service_unavailable", "internal_error"]
PERMANENT = [
    "bad_request",
    "unauthorized",
    "forbidden",
    "not_found",
    "target_error",
    "",
    "Timeout",
]


def failure(code: str = "timeout", retry_after_s: float | None = None) -> TargetError:
    return TargetError(code, "on purpose", retry_after_s=retry_after_s)


@pytest.mark.parametrize("code", TRANSIENT)
@pytest.mark.parametrize(("attempt", "planned"), [(1, 2.0), (2, 6.0)])
@given(seed=st.integers())
def test_a_transient_failure_waits_two_then_six_seconds_a_fifth_more_or_less(
    code: str, attempt: int, planned: float, seed: int
) -> None:
    wait = retry_wait(RetrySettings(), failure(code), attempt, random.Random(seed))

    assert wait is not None
    assert 0.8 * planned <= wait <= 1.2 * planned


@pytest.mark.parametrize("code", TRANSIENT)
@pytest.mark.parametrize("attempt", [3, 4])
def test_the_third_attempt_is_the_last(code: str, attempt: int) -> None:
    assert retry_wait(RetrySettings(), failure(code), attempt, CHANCE) is None


@pytest.mark.parametrize("code", PERMANENT)
def test_a_permanent_failure_is_not_tried_again(code: str) -> None:
    assert retry_wait(RetrySettings(), failure(code, retry_after_s=1), 1, CHANCE) is None


def test_waits_are_spread_over_the_whole_jitter() -> None:
    chance = random.Random(1)
    waits = [retry_wait(RetrySettings(), failure(), 1, chance) or 0.0 for _ in range(2000)]

    assert min(waits) < 1.65
    assert max(waits) > 2.35


@pytest.mark.parametrize(
    ("retry_after_s", "wait"),
    [
        (None, 2.0),
        (0.0, 2.0),
        (-5.0, 2.0),
        (1.0, 2.0),
        (30.0, 30.0),
        (300.0, 300.0),
        (300.1, None),
        (86_400.0, None),
        (math.inf, None),
    ],
)
def test_the_servers_wish_wins_when_it_is_longer_and_ends_the_record_when_it_is_absurd(
    retry_after_s: float | None, wait: float | None
) -> None:
    policy = RetrySettings(jitter=0)

    assert retry_wait(policy, failure("rate_limited", retry_after_s), 1, CHANCE) == wait


@pytest.mark.parametrize(
    ("retry_after_s", "left_s", "wait"),
    [
        (30.0, 30.0, 30.0),
        (30.1, 30.0, None),
        (301.0, 3600.0, None),
        (None, 0.5, 2.0),
        (0.0, -1.0, 2.0),
        (0.1, -1.0, None),
    ],
)
def test_a_wish_past_the_deadline_ends_the_record_and_a_backoff_past_it_does_not(
    retry_after_s: float | None, left_s: float, wait: float | None
) -> None:
    """What waits when the deadline comes is cancelled by it, and says so."""
    policy = RetrySettings(jitter=0)

    assert retry_wait(policy, failure("rate_limited", retry_after_s), 1, CHANCE, left_s) == wait


@pytest.mark.parametrize(
    ("backoff_s", "waits"),
    [((2.0, 6.0, 14.0), [2, 6, 14, 14]), ((1.0,), [1, 1, 1, 1]), ((), [0, 0, 0, 0])],
)
def test_a_project_may_have_more_attempts_and_the_last_wait_repeats(
    backoff_s: tuple[float, ...], waits: list[float]
) -> None:
    policy = RetrySettings(max_attempts=5, backoff_s=backoff_s, jitter=0)

    assert [retry_wait(policy, failure(), attempt, CHANCE) for attempt in (1, 2, 3, 4)] == waits
    assert retry_wait(policy, failure(), 5, CHANCE) is None
