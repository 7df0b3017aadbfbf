"""A check as another package would bring it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class SaysMoo:
    """Pass when the answer says moo."""

    kind: ClassVar[str] = "says_moo"

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002 - any case will do
        """Look for it."""
        is_said = "moo" in trace.response
        return Outcome.passing("moo") if is_said else Outcome.failing("no moo")
