"""`must_not_contain`: the response contains none of the phrases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from steelyard.checks.text import Phrase, PhraseText, clip, fold, require_phrases
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class MustNotContain:
    """Fail when the response contains one of the phrases."""

    kind: ClassVar[str] = "must_not_contain"
    revision: ClassVar[int] = 2

    phrases: tuple[PhraseText, ...]
    ignore_case: bool = True

    def __post_init__(self) -> None:
        """Refuse what would always be found."""
        require_phrases(self.phrases)

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Look for each phrase."""
        given = fold(trace.response, ignore_case=self.ignore_case)
        for phrase in self.phrases:
            if Phrase(phrase, ignore_case=self.ignore_case).is_in(given):
                return Outcome.failing(f"contains {clip(phrase)!r}")
        return Outcome.passing(f"contains none of {len(self.phrases)} phrase(s)")
