"""`tool_trajectory`."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.checks.catalog import Catalog
from steelyard.checks.tool_trajectory import ArgsMatch, ExpectedCall, ToolTrajectory
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message, ToolCall
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

CASE = Case(id="a")
Ordered = Literal["in_order", "exact", "subset", "superset"]


def called(*calls: str | ToolCall) -> Trace:
    made = [ToolCall(tool=call) if isinstance(call, str) else call for call in calls]
    messages = [Message(role="assistant", tool_calls=(call,)) for call in made]
    return Trace(messages=(*messages, Message(role="assistant", content="done")))


def found(mode: Ordered, expected: str, calls: str) -> Outcome:
    """What a check for one-letter tools finds in calls of one-letter tools."""
    check = ToolTrajectory(mode=mode, expected=tuple(ExpectedCall(tool=one) for one in expected))
    return check.check(called(*calls), CASE)


@pytest.mark.parametrize(
    ("mode", "expected", "calls", "score", "passed"),
    [
        ("in_order", "abc", "abc", 1, True),
        ("in_order", "abc", "xaybzc", 1, True),
        ("in_order", "abc", "cba", 1 / 3, False),
        ("in_order", "abc", "ac", 2 / 3, False),
        ("in_order", "aa", "a", 1 / 2, False),
        ("in_order", "abc", "", 0, False),
        ("in_order", "", "abc", 1, True),
        ("exact", "abc", "abc", 1, True),
        ("exact", "abc", "acb", 1 / 3, False),
        ("exact", "abc", "ab", 2 / 3, False),
        ("exact", "ab", "abc", 1, False),
        ("exact", "ab", "", 0, False),
        ("exact", "", "", 1, True),
        ("exact", "", "a", 1, False),
        ("superset", "ab", "xba", 1, True),
        ("superset", "aab", "ab", 2 / 3, False),
        ("superset", "ab", "", 0, False),
        ("superset", "", "a", 1, True),
        ("subset", "ab", "a", 1, True),
        ("subset", "ab", "aab", 1, True),
        ("subset", "ab", "axb", 2 / 3, False),
        ("subset", "ab", "", 1, True),
        ("subset", "", "a", 0, False),
    ],
)
def test_the_mode_says_how_calls_are_compared(
    mode: Ordered, expected: str, calls: str, score: float, passed: bool
) -> None:
    outcome = found(mode, expected, calls)

    assert outcome.score == pytest.approx(score)
    assert outcome.passed is passed


@pytest.mark.parametrize(
    ("minimums", "calls", "score"),
    [
        ({"a": 1, "b": 2}, "bab", 1),
        ({"a": 1, "b": 2}, "ab", 1 / 2),
        ({"a": 1}, "", 0),
        ({"a": 0}, "", 1),
        ({}, "abc", 1),
    ],
)
def test_in_any_order_each_tool_is_used_often_enough(
    minimums: dict[str, int], calls: str, score: float
) -> None:
    outcome = ToolTrajectory(mode="any_order", minimums=minimums).check(called(*calls), CASE)

    assert outcome.score == pytest.approx(score)
    assert outcome.passed is (score == 1)


@pytest.mark.parametrize(
    ("rule", "given", "fits"),
    [
        ("exact", {"q": "x", "n": 1}, True),
        ("exact", {"q": "x", "n": 1.0}, True),
        ("exact", {"q": "x", "n": True}, False),
        ("exact", {"q": "x", "n": 1, "more": 2}, False),
        ("superset", {"q": "x", "n": 1, "more": 2}, True),
        ("superset", {"q": "x"}, False),
        ("subset", {"q": "x"}, True),
        ("subset", {}, True),
        ("subset", {"q": "x", "more": 2}, False),
        ("ignore", {"q": "other"}, True),
        ("ignore", None, True),
        (("q",), {"q": "x", "n": 9}, True),
        (("q", "unstated"), {"q": "x"}, True),
        (("q",), {"n": 1}, False),
        ("superset", "q=x", False),
        ("superset", None, False),
    ],
)
def test_arguments_are_compared_by_the_rule_of_the_check_or_of_the_call(
    rule: ArgsMatch, given: JsonValue, fits: bool
) -> None:
    args: JsonObject = {"q": "x", "n": 1}
    trace = called(ToolCall(tool="a", input=given))
    by_check = ToolTrajectory(
        mode="exact", expected=(ExpectedCall(tool="a", args=args),), args_match=rule
    )
    by_call = ToolTrajectory(
        mode="superset",
        expected=(ExpectedCall(tool="a", args=args, args_match=rule),),
        args_match="ignore" if rule != "ignore" else "exact",
    )

    assert by_check.check(trace, CASE).passed is fits
    assert by_call.check(trace, CASE).passed is fits


@pytest.mark.parametrize("args", [None, "any", {}])
def test_without_arguments_any_will_do(args: Literal["any"] | JsonObject | None) -> None:
    check = ToolTrajectory(mode="exact", expected=(ExpectedCall(tool="a", args=args),))

    assert check.check(called(ToolCall(tool="a", input={"q": 1})), CASE).passed
    assert check.check(called("a"), CASE).passed


def test_in_order_a_call_with_other_arguments_is_used_up() -> None:
    expected = (ExpectedCall(tool="a", args={"q": 1}), ExpectedCall(tool="a", args={"q": 2}))
    calls = [ToolCall(tool="a", input={"q": number}) for number in (2, 1, 2)]
    outcome = ToolTrajectory(mode="in_order", expected=expected).check(called(*calls), CASE)

    assert outcome.score == 0


def test_the_best_pairs_count_where_order_does_not() -> None:
    expected = (ExpectedCall(tool="a"), ExpectedCall(tool="a", args={"q": 1}))
    calls = [ToolCall(tool="a", input={"q": 1}), ToolCall(tool="a")]

    assert ToolTrajectory(mode="superset", expected=expected).check(called(*calls), CASE).passed


@pytest.mark.parametrize(("took", "passed"), [(500, True), (500.5, False)])
def test_a_call_may_take_so_long(took: float, passed: bool) -> None:
    check = ToolTrajectory(mode="exact", expected=(ExpectedCall(tool="a", max_duration_ms=500),))
    trace = called(ToolCall(tool="a", extra={"duration_ms": took}))
    outcome = check.check(trace, CASE)

    assert outcome.passed is passed
    assert passed or "a took 500 ms, over 500 ms" in outcome.reason


@pytest.mark.parametrize("took", [None, True, "fast"])
def test_where_a_time_counts_that_is_not_known_it_is_skipped(took: JsonValue) -> None:
    check = ToolTrajectory(mode="exact", expected=(ExpectedCall(tool="a", max_duration_ms=500),))
    outcome = check.check(called(ToolCall(tool="a", extra={"duration_ms": took})), CASE)

    assert (outcome.status, outcome.reason) == (
        "skipped",
        "the trace does not say how long a took",
    )


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (ToolTrajectory(mode="any_order"), "the check states no minimums"),
        (ToolTrajectory(mode="exact"), "the check states no expected calls"),
    ],
)
def test_a_check_that_states_nothing_is_skipped(check: ToolTrajectory, reason: str) -> None:
    outcome = check.check(called("a"), CASE)

    assert (outcome.status, outcome.reason) == ("skipped", reason)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (found("exact", "ab", "ab"), "2 of 2 as expected"),
        (
            found("exact", "ab", "xbc"),
            "1 of 2 as expected: call 1 is x, not a; 1 call(s) more than expected; made x, b, c",
        ),
        (
            found("exact", "ab", "a"),
            "1 of 2 as expected: call 2 is no call, not b; made a",
        ),
        (found("in_order", "ab", "b"), "1 of 2 as expected: a does not come in its turn; made b"),
        (found("superset", "ab", "b"), "1 of 2 as expected: a is not there; made b"),
        (
            found("subset", "a", "b"),
            "0 of 1 as expected: b was not to be called, or not so; made b",
        ),
        (
            found("in_order", "abcdef", ""),
            (
                "0 of 6 as expected: a does not come in its turn; b does not come in its turn; "
                "c does not come in its turn; d does not come in its turn and 2 more; made none"
            ),
        ),
        (
            ToolTrajectory(mode="any_order", minimums={"a": 2}).check(called("a"), CASE),
            "0 of 1 as expected: a was called 1 time(s), not 2; made a",
        ),
        (
            ToolTrajectory(mode="exact", expected=(ExpectedCall(tool="a", args={"q": 1}),)).check(
                called("a"), CASE
            ),
            "0 of 1 as expected: call 1: a has other arguments; made a",
        ),
    ],
)
def test_the_reason_says_what_is_missing_and_what_was_made(outcome: Outcome, reason: str) -> None:
    assert outcome.reason == reason


def test_it_is_made_from_the_settings_of_a_file() -> None:
    made = Catalog().make(
        "tool_trajectory",
        {
            "mode": "in_order",
            "expected": [{"tool": "a", "args": "any"}, {"tool": "b", "args_match": ["q"]}],
            "args_match": "exact",
        },
    )

    assert made == ToolTrajectory(
        mode="in_order",
        expected=(ExpectedCall(tool="a", args="any"), ExpectedCall(tool="b", args_match=("q",))),
        args_match="exact",
    )


TOOLS = st.text("abc", max_size=5)


@given(TOOLS, TOOLS)
def test_exact_calls_come_in_order_and_ordered_calls_are_all_there(
    expected: str, calls: str
) -> None:
    if found("exact", expected, calls).passed:
        assert found("in_order", expected, calls).passed
        assert found("subset", expected, calls).passed
    if found("in_order", expected, calls).passed:
        assert found("superset", expected, calls).passed
