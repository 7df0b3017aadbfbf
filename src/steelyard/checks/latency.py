"""`latency`: the response arrived in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Pass when the response took at most so many milliseconds."""

    kind: ClassVar[str] = "latency"
    revision: ClassVar[int] = 2

    max_ms: float | None = None

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Compare the trace's latency with the check's limit, or else the case's own."""
        wanted = case.expected.get("max_latency_ms")
        limit = self.max_ms if self.max_ms is not None else wanted
        if not isinstance(limit, int | float):
            return Outcome.skipped("neither the check nor the case states a limit")
        if trace.latency_ms is None:
            return Outcome.unavailable("the trace has no latency")
        if trace.latency_ms <= limit:
            return Outcome.passing(f"{trace.latency_ms:,.0f} ms, within {limit:,.0f} ms")
        return Outcome.failing(f"{trace.latency_ms:,.0f} ms, over {limit:,.0f} ms")
