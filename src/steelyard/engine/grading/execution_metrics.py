"""`execution_metrics` of eval cases: limits on what an answer took, each a check of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, TypeAlias

from steelyard.checks.cost import Cost
from steelyard.checks.latency import Latency
from steelyard.checks.token_usage import TokenUsage
from steelyard.engine.grading.evaluator_composite import EvaluatorComposite, WeightedMean
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Check, RubricCheck
from steelyard.model.trace import Trace

Counted: TypeAlias = Literal["tool calls", "model calls"]


class CallLimit(FrozenStruct, frozen=True, kw_only=True):
    """Pass when an answer took at most so many calls."""

    kind: ClassVar[str] = "call_limit"

    counted: Counted
    limit: int

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Count the tools that were called, or the messages that a model wrote."""
        if self.counted == "tool calls":
            made = sum(len(message.tool_calls) for message in trace.messages)
        else:
            made = sum(message.role == "assistant" for message in trace.messages)
        measured = f"{made} {self.counted}"
        if made <= self.limit:
            return Outcome.passing(f"{measured}, within {self.limit}")
        return Outcome.failing(f"{measured}, over {self.limit}")


_LIMITS: dict[str, Callable[[Any], Check]] = {
    "max_tool_calls": lambda limit: CallLimit(counted="tool calls", limit=limit),
    "max_llm_calls": lambda limit: CallLimit(counted="model calls", limit=limit),
    "max_tokens": lambda limit: TokenUsage(max_total=limit),
    "max_cost_usd": lambda limit: Cost(max_usd=limit),
    "max_duration_ms": lambda limit: Latency(max_ms=limit),
}


def execution_metrics(settings: Mapping[str, Any], threshold: float) -> EvaluatorComposite:
    """The share of the stated limits that hold."""
    members = tuple(
        RubricCheck(id=name, check=make(settings[name]))
        for name, make in _LIMITS.items()
        if name in settings
    )
    return EvaluatorComposite(members=members, joined=WeightedMean({}, threshold))
