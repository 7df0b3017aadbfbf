"""`token_usage`."""

from __future__ import annotations

import pytest

from steelyard.checks.token_usage import TokenUsage
from steelyard.model.case import Case
from steelyard.model.trace import Trace, Usage


def counted(given: int | None, made: int | None) -> Trace:
    return Trace(usage=Usage(input_tokens=given, output_tokens=made))


@pytest.mark.parametrize(
    ("check", "passed", "reason"),
    [
        (TokenUsage(max_total=1200), True, "1,200 total tokens, within 1,200"),
        (TokenUsage(max_total=1199), False, "1,200 total tokens, over 1,199"),
        (TokenUsage(max_input=1000), True, "1,000 input tokens, within 1,000"),
        (TokenUsage(max_input=999), False, "1,000 input tokens, over 999"),
        (TokenUsage(max_output=200), True, "200 output tokens, within 200"),
        (TokenUsage(max_output=199), False, "200 output tokens, over 199"),
        (
            TokenUsage(max_total=2000, max_input=999, max_output=0),
            False,
            "1,000 input tokens, over 999; 200 output tokens, over 0",
        ),
        (
            TokenUsage(max_input=1000, max_output=200),
            True,
            "1,000 input tokens, within 1,000; 200 output tokens, within 200",
        ),
    ],
)
def test_every_limit_must_hold(check: TokenUsage, passed: bool, reason: str) -> None:
    outcome = check.check(counted(1000, 200), Case(id="a"))

    assert (outcome.passed, outcome.score, outcome.reason) == (passed, float(passed), reason)


@pytest.mark.parametrize(
    ("check", "trace", "reason"),
    [
        (TokenUsage(max_total=9), counted(1, None), "the target did not count its total tokens"),
        (TokenUsage(max_input=9), counted(None, 1), "the target did not count its input tokens"),
        (
            TokenUsage(max_input=9, max_output=9),
            counted(1, None),
            "the target did not count its output tokens",
        ),
        (TokenUsage(), counted(1, 1), "the check states no limit"),
    ],
)
def test_what_was_not_counted_is_neither_0_nor_a_pass(
    check: TokenUsage, trace: Trace, reason: str
) -> None:
    outcome = check.check(trace, Case(id="a"))

    assert (outcome.status, outcome.reason) == ("skipped", reason)


def test_a_broken_limit_fails_even_if_another_cannot_be_looked_at() -> None:
    outcome = TokenUsage(max_input=9, max_output=9).check(counted(10, None), Case(id="a"))

    assert outcome.passed is False
