"""`fuzzy_match`: the response and an expected text contain one another, loosely read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import punctuation
from typing import Annotated, ClassVar

from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import clip
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

_PUNCTUATION = str.maketrans("", "", punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzyMatch:
    """Pass when the response contains a value or is contained in one, loosely read.

    Without values the reference answers of the case count. Case, ASCII punctuation, the English
    articles and the amount of white space are ignored; what is then empty matches only what is
    empty too.
    """

    kind: ClassVar[str] = "fuzzy_match"

    values: Annotated[tuple[str, ...], Rule("The expected texts; any of them will do.")] = ()

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Compare the response with each value."""
        values = self.values or case.answers
        if not values:
            return Outcome.skipped("the check has no values and the case no reference answer")
        given = _loosely(trace.response)
        for value in values:
            if _overlap(given, _loosely(value)):
                return Outcome.passing(f"matches {clip(value)!r}")
        shown = f"{clip(trace.response)!r} and {clip(values[0])!r}"
        return Outcome.failing(f"neither of {shown} contains the other")


def _loosely(text: str) -> str:
    plain = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", plain).split())


def _overlap(one: str, other: str) -> bool:
    if not one or not other:
        return one == other
    return one in other or other in one
