"""`starts_with`: the response begins with a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import Phrase, clip, fold, require_text
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class StartsWith:
    """Pass when the response begins with the value; white space before it does not count."""

    kind: ClassVar[str] = "starts_with"
    revision: ClassVar[int] = 2

    value: Annotated[str, Rule("The text that the response begins with.", {"pattern": r"\S"})]
    ignore_case: bool = False

    def __post_init__(self) -> None:
        """Refuse what every response begins with."""
        require_text(self.value)

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Compare the beginning of the response."""
        given = trace.response.lstrip()
        wanted = Phrase(self.value.lstrip(), ignore_case=self.ignore_case)
        if wanted.begins(fold(given, ignore_case=self.ignore_case)):
            return Outcome.passing(f"begins with {clip(self.value)!r}")
        return Outcome.failing(f"expected {clip(self.value)!r} first, got {clip(given)!r}")
