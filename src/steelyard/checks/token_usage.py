"""`token_usage`: the response took no more tokens than allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

from steelyard.checks.setting_rules import Rule
from steelyard.model.case import Case
from steelyard.model.json_value import Extra
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace, Usage

_COUNT = {"minimum": 0}


class _Bound(NamedTuple):
    name: str
    limit: int
    counted: int | None

    @property
    def is_broken(self) -> bool:
        return self.counted is not None and self.counted > self.limit

    def __str__(self) -> str:
        relation = "over" if self.is_broken else "within"
        return f"{self.counted:,} {self.name} tokens, {relation} {self.limit:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Pass when the tokens of the response are within every limit."""

    kind: ClassVar[str] = "token_usage"
    revision: ClassVar[int] = 2
    rules: ClassVar[Extra] = {
        "allOf": [
            {
                "x-missing": "max_total",
                "anyOf": [
                    {"required": ["max_total"]},
                    {"required": ["max_input"]},
                    {"required": ["max_output"]},
                ],
            }
        ]
    }

    max_total: Annotated[int | None, Rule("Tokens in and out at most.", _COUNT)] = None
    max_input: Annotated[int | None, Rule("Tokens in at most.", _COUNT)] = None
    max_output: Annotated[int | None, Rule("Tokens out at most.", _COUNT)] = None

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Compare what the target counted; one limit that is broken is enough to fail."""
        bounds = list(self._bounds(trace.usage))
        if not bounds:
            return Outcome.skipped("the check states no limit")
        broken = [str(bound) for bound in bounds if bound.is_broken]
        if broken:
            return Outcome.failing("; ".join(broken))
        unknown = [bound.name for bound in bounds if bound.counted is None]
        if unknown:
            return Outcome.unavailable(f"the target did not count its {unknown[0]} tokens")
        return Outcome.passing("; ".join(map(str, bounds)))

    def _bounds(self, usage: Usage) -> Iterator[_Bound]:
        counts = {
            "total": (self.max_total, usage.total_tokens),
            "input": (self.max_input, usage.input_tokens),
            "output": (self.max_output, usage.output_tokens),
        }
        for name, (limit, count) in counts.items():
            if limit is not None:
                yield _Bound(name, limit, count)
