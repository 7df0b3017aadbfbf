"""`must_contain_any`: the response contains at least one phrase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from steelyard.checks.text import Phrase, PhraseText, clip, fold, require_phrases
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class MustContainAny:
    """Pass when the response contains a phrase, or else a reference answer of the case."""

    kind: ClassVar[str] = "must_contain_any"
    revision: ClassVar[int] = 2

    phrases: tuple[PhraseText, ...] = ()
    ignore_case: bool = True

    def __post_init__(self) -> None:
        """Refuse what would always be found."""
        require_phrases(self.phrases)

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Look for each phrase."""
        phrases = self.phrases or case.answers
        if not phrases:
            return Outcome.skipped("the check has no phrases and the case no reference answer")
        given = fold(trace.response, ignore_case=self.ignore_case)
        for phrase in phrases:
            if Phrase(phrase, ignore_case=self.ignore_case).is_in(given):
                return Outcome.passing(f"contains {clip(phrase)!r}")
        first, *others = phrases
        rest = f" nor {len(others)} other(s)" if others else ""
        return Outcome.failing(f"does not contain {clip(first)!r}{rest}")
