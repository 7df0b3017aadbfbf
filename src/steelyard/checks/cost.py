"""`cost`: the response cost no more than a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from steelyard.checks.setting_rules import Rule
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Pass when the response cost at most so many US dollars."""

    kind: ClassVar[str] = "cost"
    revision: ClassVar[int] = 2
    needs_cost: ClassVar[bool] = True
    """Whoever grades puts what the call cost into the trace first."""

    max_usd: Annotated[float, Rule("US dollars at most.", {"minimum": 0})]

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Compare what the call cost, by the price of its target or by the trace itself."""
        spent = trace.cost_usd
        if spent is None:
            return Outcome.unavailable(
                "what the response cost is not known: its target has no price or counts no tokens"
            )
        limit = _dollars(self.max_usd)
        if spent <= self.max_usd:
            return Outcome.passing(f"cost {_dollars(spent)}, within {limit}")
        return Outcome.failing(f"cost {_dollars(spent)}, over {limit}")


def _dollars(amount: float) -> str:
    """An amount with the digits that tell, however small it is."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4g}"
