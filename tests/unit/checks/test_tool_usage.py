"""`tool_usage`."""

from __future__ import annotations

from itertools import permutations
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.checks.tool_usage import ExpectedTool, ToolUsage
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace

Order = Literal["any", "in_order", "exact"]


def called(*calls: str | ToolCall) -> Trace:
    """A trace with each call in a message of its own, and an answer at the end."""
    made = [ToolCall(tool=call) if isinstance(call, str) else call for call in calls]
    messages = [Message(role="assistant", tool_calls=(call,)) for call in made]
    return Trace(messages=(*messages, Message(role="assistant", content="done")))


def search(**given: JsonValue) -> ToolCall:
    return ToolCall(tool="search", input=given)


def looks_for(**args: JsonValue) -> ExpectedTool:
    return ExpectedTool(name="search", args=args)


@pytest.mark.parametrize(
    ("order", "calls", "score"),
    [
        ("any", ["a", "b", "c"], 1),
        ("any", ["c", "x", "b", "a"], 1),
        ("any", ["a", "a", "b"], 2 / 3),
        ("any", ["x"], 0),
        ("any", [], 0),
        ("in_order", ["a", "b", "c"], 1),
        ("in_order", ["x", "a", "x", "b", "c", "x"], 1),
        ("in_order", ["b", "c", "a"], 2 / 3),
        ("in_order", ["c", "b", "a"], 1 / 3),
        ("in_order", [], 0),
        ("exact", ["a", "b", "c"], 1),
        ("exact", ["a", "b", "c", "a"], 3 / 4),
        ("exact", ["x", "a", "b", "c"], 0),
        ("exact", ["a", "c", "b"], 1 / 3),
        ("exact", ["a", "b"], 2 / 3),
        ("exact", [], 0),
    ],
)
def test_the_score_is_the_share_of_calls_that_are_as_expected(
    order: Order, calls: list[str], score: float
) -> None:
    check = ToolUsage(expected_tools=("a", "b", "c"), order=order)
    outcome = check.check(called(*calls), Case(id="a"))

    assert outcome.score == pytest.approx(score)
    assert outcome.passed is (score == 1)


def test_calls_of_one_message_count_in_their_order() -> None:
    calls = (ToolCall(tool="a"), ToolCall(tool="b"))
    trace = Trace(messages=(Message(role="assistant", tool_calls=calls),))

    assert ToolUsage(expected_tools=("a", "b"), order="exact").check(trace, Case(id="a")).passed


@pytest.mark.parametrize(
    ("args", "given", "passed"),
    [
        ({"q": "cats"}, {"q": "cats"}, True),
        ({"q": "cats"}, {"q": "cats", "limit": 5}, True),
        ({"q": "cats", "limit": 5}, {"q": "cats"}, False),
        ({"q": "cats"}, {"q": "Cats"}, False),
        ({"limit": 1}, {"limit": 1.0}, True),
        ({"limit": 1}, {"limit": True}, False),
        ({"where": {"a": [1]}}, {"where": {"a": [1]}}, True),
        ({"where": {"a": [1]}}, {"where": {"a": [1], "b": 2}}, False),
        ({"q": None}, {}, False),
        ({"q": None}, {"q": None}, True),
        ({}, {"q": "cats"}, True),
        ({"q": "cats"}, "q=cats", False),
        ({"q": "cats"}, None, False),
    ],
)
def test_arguments_that_are_stated_must_be_among_those_of_the_call(
    args: JsonObject, given: JsonValue, passed: bool
) -> None:
    check = ToolUsage(expected_tools=(looks_for(**args),))
    trace = called(ToolCall(tool="search", input=given))

    assert check.check(trace, Case(id="a")).passed is passed


def test_a_call_is_counted_for_one_expectation_only_and_for_the_best() -> None:
    expected = (ExpectedTool(name="search"), looks_for(q="x"), looks_for(q="x", limit=1))
    calls = (search(q="x", limit=1), search(q="x"), search(q="y"))

    for order in permutations(calls):
        assert ToolUsage(expected_tools=expected).check(called(*order), Case(id="a")).score == 1
    outcome = ToolUsage(expected_tools=expected).check(called(*calls[:2]), Case(id="a"))
    assert outcome.score == pytest.approx(2 / 3)


@pytest.mark.parametrize(("calls", "passed"), [(["a"], True), (["a", "rm"], False)])
def test_a_forbidden_call_fails_whatever_else_was_called(calls: list[str], passed: bool) -> None:
    check = ToolUsage(expected_tools=("a",), forbidden_tools=("rm", "mv"))
    outcome = check.check(called(*calls), Case(id="a"))

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(
    ("calls", "reason"),
    [([], "called no forbidden tool"), (["mv"], "called the forbidden tool mv")],
)
def test_forbidden_tools_alone_are_enough_to_look_for(calls: list[str], reason: str) -> None:
    check = ToolUsage(forbidden_tools=("rm", "mv"))

    assert check.check(called(*calls), Case(id="a")).reason == reason


@pytest.mark.parametrize("calls", [[search(q="cats"), ToolCall(tool="a")]])
def test_without_tools_those_of_the_case_are_looked_for(calls: list[ToolCall]) -> None:
    """CR-08"""
    wanted: list[JsonValue] = ["a", {"name": "search", "args": {"q": "cats"}}]
    case = Case(id="a", expected={"expected_tools": wanted})

    assert ToolUsage().check(called(*calls), case).passed
    assert not ToolUsage(order="exact").check(called(*calls), case).passed
    assert not ToolUsage().check(called("a", search(q="dogs")), case).passed


def test_the_tools_of_the_check_win_over_those_of_the_case() -> None:
    case = Case(id="a", expected={"expected_tools": ["b"]})

    assert ToolUsage(expected_tools=("a",)).check(called("a"), case).passed


@pytest.mark.parametrize("expected", [{}, {"expected_tools": []}])
def test_without_tools_it_is_skipped(expected: JsonObject) -> None:
    """CR-08"""
    outcome = ToolUsage().check(called("a"), Case(id="a", expected=expected))

    assert outcome.status == "skipped"
    assert outcome.reason == "neither the check nor the case states tools"


@pytest.mark.parametrize(("calls", "passed"), [([], True), (["a"], False)])
def test_a_case_can_say_that_exactly_no_tool_is_called(calls: list[str], passed: bool) -> None:
    case = Case(id="a", expected={"expected_tools": []})
    outcome = ToolUsage(order="exact").check(called(*calls), case)

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(
    ("check", "calls", "reason"),
    [
        (ToolUsage(expected_tools=("a",)), ["a"], "1 expected call(s) found"),
        (
            ToolUsage(expected_tools=("a", looks_for(q="x"))),
            ["a", "b"],
            "1 of 2 call(s) as expected; expected a, search(…); made a, b",
        ),
        (
            ToolUsage(expected_tools=("a",), order="exact"),
            [],
            "0 of 1 call(s) as expected (exact); expected a; made none",
        ),
    ],
)
def test_the_reason_shows_what_was_expected_and_made(
    check: ToolUsage, calls: list[str], reason: str
) -> None:
    assert check.check(called(*calls), Case(id="a")).reason == reason


NAMES = st.lists(st.sampled_from("abc"), max_size=5)


@given(NAMES.filter(bool), NAMES)
def test_a_stricter_order_never_gives_a_higher_score(
    expected: list[str], calls: list[str]
) -> None:
    def score(order: Order) -> float:
        check = ToolUsage(expected_tools=tuple(expected), order=order)
        return check.check(called(*calls), Case(id="a")).score or 0.0

    assert 0 <= score("exact") <= score("in_order") <= score("any") <= 1
