"""`contains_all`: the response contains every phrase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import Phrase, PhraseText, clip, fold, require_phrases
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainsAll:
    """Pass when the response contains all phrases; the score is the share that it contains."""

    kind: ClassVar[str] = "contains_all"
    revision: ClassVar[int] = 2

    phrases: Annotated[tuple[PhraseText, ...], Rule("The phrases, all of which are looked for.")]
    ignore_case: bool = True

    def __post_init__(self) -> None:
        """Refuse what would always be found."""
        require_phrases(self.phrases)

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Look for each phrase."""
        given = fold(trace.response, ignore_case=self.ignore_case)
        missing = [
            phrase
            for phrase in self.phrases
            if not Phrase(phrase, ignore_case=self.ignore_case).is_in(given)
        ]
        total = len(self.phrases)
        if not missing:
            return Outcome.passing(f"contains all of {total} phrase(s)")
        reason = f"lacks {len(missing)} of {total} phrase(s), such as {clip(missing[0])!r}"
        return Outcome(passed=False, score=1 - len(missing) / total, reason=reason)
