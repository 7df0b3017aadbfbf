"""`equals`: the response is exactly the expected text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from steelyard.checks.text import clip, fold
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Equals:
    """Pass when the response equals the value, or else a reference answer of the case."""

    kind: ClassVar[str] = "equals"
    revision: ClassVar[int] = 2

    value: str | None = None
    ignore_case: bool = False
    strip: bool = True

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Compare the response."""
        wanted = (self.value,) if self.value is not None else case.answers
        if not wanted:
            return Outcome.skipped("the case has no reference answer and the check no value")
        given = self._form(trace.response)
        if any(self._form(text) == given for text in wanted):
            return Outcome.passing(f"equals {clip(wanted[0])!r}")
        return Outcome.failing(f"expected {clip(wanted[0])!r}, got {clip(trace.response)!r}")

    def _form(self, text: str) -> str:
        return fold(text.strip() if self.strip else text, ignore_case=self.ignore_case)
