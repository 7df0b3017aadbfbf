"""`tool_trajectory`: the tools were called in the way that was expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeAlias

from steelyard.checks.json_reply import same_json
from steelyard.checks.pairing import paired
from steelyard.checks.setting_rules import Rule, without_effect
from steelyard.checks.text import clip
from steelyard.model.case import Case
from steelyard.model.json_value import Extra, JsonObject, JsonValue
from steelyard.model.message import ToolCall
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

ArgsMatch: TypeAlias = Literal["exact", "superset", "subset", "ignore"] | tuple[str, ...]
Mode: TypeAlias = Literal["any_order", "in_order", "exact", "subset", "superset"]
_MATCH = "How arguments are compared: exact, superset, subset, ignore, or the names that count."
_SHOWN = 4
_AT_LEAST_ONE: JsonObject = {
    "title": "expected",
    "description": "The calls in order; without any, nothing would be demanded.",
    "minItems": 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """A call that is looked for, with how its arguments are compared."""

    tool: Annotated[str, Rule("The tool's name.")]
    args: Annotated[Literal["any"] | Extra | None, Rule("'any', or the arguments.")] = field(
        default=None, hash=False
    )
    args_match: Annotated[ArgsMatch | None, Rule(_MATCH)] = None
    max_duration_ms: Annotated[
        float | None, Rule("Milliseconds that the call may take at most.", {"minimum": 0})
    ] = None

    def fault(self, call: ToolCall, otherwise: ArgsMatch) -> str | None:
        """Why a call of this tool is not the one looked for; None when it is."""
        rule = otherwise if self.args_match is None else self.args_match
        if isinstance(self.args, Mapping) and not _args_fit(self.args, call.input, rule):
            return f"{self.tool} has other arguments"
        if self.max_duration_ms is None:
            return None
        took = duration_ms(call)
        if took is None or took <= self.max_duration_ms:
            return None
        return f"{self.tool} took {took:,.0f} ms, over {self.max_duration_ms:,.0f} ms"

    def is_made_by(self, call: ToolCall, otherwise: ArgsMatch) -> bool:
        """Whether a call is the one looked for."""
        return call.tool == self.tool and self.fault(call, otherwise) is None


class _Found(NamedTuple):
    hits: int
    total: int
    misses: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTrajectory:
    """Pass when the calls are those expected; the score is the share that is."""

    kind: ClassVar[str] = "tool_trajectory"
    revision: ClassVar[int] = 2
    rules: ClassVar[Extra] = {
        "allOf": [
            {
                "if": {"properties": {"mode": {"enum": ["any_order"]}}, "required": ["mode"]},
                "then": {"required": ["minimums"]},
            },
            {
                "if": {
                    "properties": {"mode": {"enum": ["in_order", "exact", "subset", "superset"]}},
                    "required": ["mode"],
                },
                "then": {"required": ["expected"]},
            },
            {
                "if": {
                    "properties": {"mode": {"enum": ["in_order", "superset"]}},
                    "required": ["mode"],
                },
                "then": {"properties": {"expected": _AT_LEAST_ONE}},
            },
            without_effect("minimums", "mode", "in_order", "exact", "subset", "superset"),
            without_effect("expected", "mode", "any_order"),
            without_effect("args_match", "mode", "any_order"),
        ]
    }

    mode: Annotated[Mode, Rule("How the calls are compared.")]
    minimums: Annotated[
        Mapping[str, int] | None,
        Rule(
            "How often each tool must at least be used.",
            {"minProperties": 1, "additionalProperties": {"type": "integer", "minimum": 1}},
        ),
    ] = field(default=None, hash=False)
    expected: Annotated[
        tuple[ExpectedCall, ...] | None, Rule("The calls in order.", {"minItems": 0})
    ] = None
    args_match: Annotated[ArgsMatch, Rule(_MATCH)] = "superset"

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Compare the calls of all messages."""
        calls = [call for message in trace.messages for call in message.tool_calls]
        if self.mode == "any_order":
            if self.minimums is None:
                return Outcome.skipped("the check states no minimums")
            return _outcome(_often_enough(self.minimums, calls), calls)
        if self.expected is None:
            return Outcome.skipped("the check states no expected calls")
        untimed = self._untimed(calls)
        if untimed:
            return Outcome.unavailable(f"the trace does not say how long {untimed} took")
        return _outcome(_COMPARED[self.mode](self.expected, calls, self.args_match), calls)

    def _untimed(self, calls: list[ToolCall]) -> str | None:
        """A tool whose time counts and of which a call has none."""
        timed = {one.tool for one in self.expected or () if one.max_duration_ms is not None}
        return next((c.tool for c in calls if c.tool in timed and duration_ms(c) is None), None)


def duration_ms(call: ToolCall) -> float | None:
    """How long a call took, where the trace says it."""
    took = call.extra.get("duration_ms")
    return took if isinstance(took, int | float) and not isinstance(took, bool) else None


def _often_enough(minimums: Mapping[str, int], calls: list[ToolCall]) -> _Found:
    made = Counter(call.tool for call in calls)
    misses = [
        f"{tool} was called {made[tool]} time(s), not {least}"
        for tool, least in minimums.items()
        if made[tool] < least
    ]
    return _Found(len(minimums) - len(misses), len(minimums), misses)


def _in_order(
    expected: tuple[ExpectedCall, ...], calls: list[ToolCall], args_match: ArgsMatch
) -> _Found:
    """Each call after the one before; one with the right name and other arguments is used up."""
    misses: list[str] = []
    place = 0
    for one in expected:
        later = range(place, len(calls))
        spot = next((spot for spot in later if calls[spot].tool == one.tool), None)
        if spot is None:
            misses.append(f"{one.tool} does not come in its turn")
            continue
        place = spot + 1
        fault = one.fault(calls[spot], args_match)
        if fault:
            misses.append(fault)
    return _Found(len(expected) - len(misses), len(expected), misses)


def _in_place(
    expected: tuple[ExpectedCall, ...], calls: list[ToolCall], args_match: ArgsMatch
) -> _Found:
    """Place by place; calls beyond them fail the check, and leave the score as it is."""
    misses: list[str] = []
    for number, one in enumerate(expected, start=1):
        call = calls[number - 1] if number <= len(calls) else None
        if call is None or call.tool != one.tool:
            made = "no call" if call is None else call.tool
            misses.append(f"call {number} is {made}, not {one.tool}")
        elif fault := one.fault(call, args_match):
            misses.append(f"call {number}: {fault}")
    hits = len(expected) - len(misses)
    if len(calls) > len(expected):
        misses.append(f"{len(calls) - len(expected)} call(s) more than expected")
    return _Found(hits, len(expected), misses)


def _all_made(
    expected: tuple[ExpectedCall, ...], calls: list[ToolCall], args_match: ArgsMatch
) -> _Found:
    """Every expected call is among those made, each with one of its own."""
    fits = [
        [spot for spot, call in enumerate(calls) if one.is_made_by(call, args_match)]
        for one in expected
    ]
    made = set(paired(fits).values())
    misses = [f"{one.tool} is not there" for at, one in enumerate(expected) if at not in made]
    return _Found(len(expected) - len(misses), len(expected), misses)


def _none_else(
    expected: tuple[ExpectedCall, ...], calls: list[ToolCall], args_match: ArgsMatch
) -> _Found:
    """Every call that was made is one of those expected."""
    misses = [
        f"{call.tool} was not to be called, or not so"
        for call in calls
        if not any(one.is_made_by(call, args_match) for one in expected)
    ]
    return _Found(len(calls) - len(misses), len(calls), misses)


def _outcome(found: _Found, calls: list[ToolCall]) -> Outcome:
    score = found.hits / found.total if found.total else 1.0
    if not found.misses:
        return Outcome.passing(f"{found.hits} of {found.total} as expected")
    misses = "; ".join(found.misses[:_SHOWN])
    more = f" and {len(found.misses) - _SHOWN} more" if len(found.misses) > _SHOWN else ""
    made = clip(", ".join(call.tool for call in calls) or "none", 120)
    reason = f"{found.hits} of {found.total} as expected: {misses}{more}; made {made}"
    return Outcome(passed=False, score=score, reason=reason, details={"misses": [*found.misses]})


def _args_fit(wanted: Extra, given: JsonValue, rule: ArgsMatch) -> bool:
    if rule == "ignore":
        return True
    if not isinstance(given, dict):
        return not wanted and given is None
    if isinstance(rule, tuple):
        return all(
            name in given and same_json(wanted[name], given[name])
            for name in rule
            if name in wanted
        )
    is_full = all(
        name in given and same_json(value, given[name]) for name, value in wanted.items()
    )
    is_within = all(
        name in wanted and same_json(wanted[name], value) for name, value in given.items()
    )
    return {"exact": is_full and is_within, "superset": is_full, "subset": is_within}[rule]


_COMPARED: dict[str, Callable[[tuple[ExpectedCall, ...], list[ToolCall], ArgsMatch], _Found]] = {
    "in_order": _in_order,
    "exact": _in_place,
    "superset": _all_made,
    "subset": _none_else,
}
