"""`is_json`: the response is JSON and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from steelyard.checks.json_reply import strict_json
from steelyard.checks.text import clip
from steelyard.errors import ParseError
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class IsJson:
    """Pass when the whole response is one JSON value."""

    kind: ClassVar[str] = "is_json"

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Parse the response."""
        try:
            strict_json(trace.response)
        except ParseError as wrong:
            return Outcome.failing(f"is not JSON: {wrong}; got {clip(trace.response)!r}")
        return Outcome.passing("is JSON")
