"""What a number from outside is taken for."""

from __future__ import annotations

import pytest

from steelyard.model.plausible import MAX_TOKENS, cost_usd, latency_ms, token_count


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (0, 0),
        (12, 12),
        (12.0, 12),
        (MAX_TOKENS, MAX_TOKENS),
        (MAX_TOKENS + 1, None),
        (10**400, None),
        (-1, None),
        (1.5, None),
        (True, None),
        ("12", None),
        (float("nan"), None),
        (float("inf"), None),
        (None, None),
    ],
)
def test_a_count_of_tokens_is_whole_and_possible(value: object, count: int | None) -> None:
    assert token_count(value) == count


@pytest.mark.parametrize("value", [-1, 10**400, 1e300, float("nan"), "1", None, True])
def test_a_time_and_a_cost_that_cannot_be_are_unknown(value: object) -> None:
    assert (latency_ms(value), cost_usd(value)) == (None, None)


def test_a_time_and_a_cost_are_taken_as_they_are() -> None:
    assert (latency_ms(1500.5), latency_ms(3), cost_usd(2)) == (1500.5, 3, 2.0)
