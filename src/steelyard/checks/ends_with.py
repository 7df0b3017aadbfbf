"""`ends_with`: the response ends with a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import Phrase, clip, fold, require_text
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class EndsWith:
    """Pass when the response ends with the value; white space after it does not count."""

    kind: ClassVar[str] = "ends_with"
    revision: ClassVar[int] = 2

    value: Annotated[str, Rule("The text that the response ends with.", {"pattern": r"\S"})]
    ignore_case: bool = False

    def __post_init__(self) -> None:
        """Refuse what every response ends with."""
        require_text(self.value)

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Compare the end of the response."""
        given = trace.response.rstrip()
        wanted = Phrase(self.value.rstrip(), ignore_case=self.ignore_case)
        if wanted.ends(fold(given, ignore_case=self.ignore_case)):
            return Outcome.passing(f"ends with {clip(self.value)!r}")
        return Outcome.failing(f"expected {clip(self.value)!r} last, got {clip(given[-60:])!r}")
