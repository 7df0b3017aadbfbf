# ruff: noqa: INP001 - a module of its own, not part of a package
"""A kind of check that a package of your own brings: sentences that people can follow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

from steelyard.checks.setting_rules import Rule
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

_ENDS = re.compile(r"[.!?]+(?:\s+|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceLength:
    """Pass when no sentence is too long; the score is the share of sentences that are not."""

    kind: ClassVar[str] = "sentence_length"

    max_words: Annotated[int, Rule("Words that a sentence may have at most.", {"minimum": 1})] = 25

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002 - the same for any case
        """Count the words of every sentence of the response."""
        lengths = [len(one.split()) for one in _ENDS.split(trace.response) if one.strip()]
        if not lengths:
            return Outcome.skipped("the response has no sentence")
        long = [length for length in lengths if length > self.max_words]
        if not long:
            return Outcome.passing(f"{len(lengths)} sentence(s), the longest of {max(lengths)}")
        return Outcome(
            passed=False,
            score=1 - len(long) / len(lengths),
            reason=f"{len(long)} of {len(lengths)} sentence(s) over {self.max_words} words",
            details={"lengths": [*lengths]},
        )
