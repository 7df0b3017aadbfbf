"""`tool_usage`: the target called the tools that it should, and none that it must not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from steelyard.checks.json_reply import same_json
from steelyard.checks.pairing import paired
from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import clip
from steelyard.formats.json_fields import fields, items, optional_object, text_field
from steelyard.model.case import Case
from steelyard.model.json_value import Extra, JsonValue
from steelyard.model.message import ToolCall
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedTool:
    """A call that is looked for; where it has arguments, they must be among those of the call."""

    name: Annotated[str, Rule("The tool's name.")]
    args: Annotated[
        Extra | None, Rule("Arguments that the call has; it may have others as well.")
    ] = field(default=None, hash=False)

    def matches(self, call: ToolCall) -> bool:
        """Whether a call is the one looked for."""
        if call.tool != self.name:
            return False
        if not self.args:
            return True
        given = call.input
        return isinstance(given, dict) and all(
            name in given and same_json(value, given[name]) for name, value in self.args.items()
        )

    def __str__(self) -> str:
        """The name, with a mark where arguments are looked for too."""
        return f"{self.name}(…)" if self.args else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUsage:
    """Pass when every expected call was made; the score is the share that was.

    A forbidden call makes the score 0.
    """

    kind: ClassVar[str] = "tool_usage"

    expected_tools: Annotated[
        tuple[str | ExpectedTool, ...],
        Rule("Names of tools, or name and args; without them the case's expected_tools."),
    ] = ()
    order: Annotated[
        Literal["any", "in_order", "exact"],
        Rule("Whether calls may come in any order, in this one, or as these and no others."),
    ] = "any"
    forbidden_tools: Annotated[tuple[str, ...], Rule("Names of tools that no call may use.")] = ()

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Compare the calls of all messages."""
        calls = [call for message in trace.messages for call in message.tool_calls]
        expected = self._expected(case)
        is_exact = expected is not None and self.order == "exact"
        if not (expected or is_exact or self.forbidden_tools):
            return Outcome.skipped("neither the check nor the case states tools")
        forbidden = [call.tool for call in calls if call.tool in self.forbidden_tools]
        if forbidden:
            return Outcome.failing(f"called the forbidden tool {forbidden[0]}")
        if not (expected or is_exact):
            return Outcome.passing("called no forbidden tool")
        return self._compared(expected or [], calls)

    def _expected(self, case: Case) -> list[ExpectedTool] | None:
        """The calls looked for; None where nobody states any."""
        if self.expected_tools:
            return [_tool(one) for one in self.expected_tools]
        stated = case.expected.get("expected_tools")
        return None if stated is None else [_tool(one) for one in items(stated)]

    def _compared(self, expected: list[ExpectedTool], calls: list[ToolCall]) -> Outcome:
        count = {"any": _matched, "in_order": _in_order, "exact": _in_place}[self.order]
        found = count(expected, calls)
        total = len(expected)
        if self.order == "exact":
            total = max(total, len(calls))
        if found == total:
            return Outcome.passing(f"{found} expected call(s) found")
        wanted = clip(", ".join(map(str, expected)) or "none", 120)
        made = clip(", ".join(call.tool for call in calls) or "none", 120)
        order = "" if self.order == "any" else f" ({self.order})"
        reason = f"{found} of {total} call(s) as expected{order}; expected {wanted}; made {made}"
        return Outcome(passed=False, score=found / total, reason=reason)


def _tool(stated: ExpectedTool | JsonValue) -> ExpectedTool:
    """An expected call, from a setting or from a case."""
    if isinstance(stated, ExpectedTool):
        return stated
    if isinstance(stated, str):
        return ExpectedTool(name=stated)
    row = fields(stated)
    return ExpectedTool(name=text_field(row, "name"), args=optional_object(row, "args"))


def _matched(expected: list[ExpectedTool], calls: list[ToolCall]) -> int:
    """How many expected calls can be paired with calls of their own, at best."""
    fits = [[spot for spot, call in enumerate(calls) if one.matches(call)] for one in expected]
    return len(paired(fits))


def _in_order(expected: list[ExpectedTool], calls: list[ToolCall]) -> int:
    """The length of the longest common subsequence."""
    best = [0] * (len(calls) + 1)
    for one in expected:
        row = [0]
        for spot, call in enumerate(calls):
            row.append(best[spot] + 1 if one.matches(call) else max(best[spot + 1], row[spot]))
        best = row
    return best[-1]


def _in_place(expected: list[ExpectedTool], calls: list[ToolCall]) -> int:
    return sum(one.matches(call) for one, call in zip(expected, calls, strict=False))
