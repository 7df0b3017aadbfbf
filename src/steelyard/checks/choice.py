"""`choice`: the response selects the right choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from steelyard.checks.setting_rules import Rule
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

LADDER_REVISION = 3
"""Raised by every change by which an answer may select another choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Pass when the selected choices are correct ones, or exactly all the correct ones."""

    kind: ClassVar[str] = "choice"
    built_on: ClassVar[Mapping[str, int]] = {"choice_ladder": LADDER_REVISION}

    match: Annotated[
        Literal["any", "exact"],
        Rule("Whether correct choices suffice, or all correct ones must be selected."),
    ] = "any"

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Find what the response selects, and compare."""
        if not case.choices:
            return Outcome.skipped("the case offers no choices")
        if not case.correct_choice_ids:
            return Outcome.skipped("the case does not say which choice is correct")
        from steelyard.checks.choice_answers import ChoiceReader  # noqa: PLC0415 - many patterns

        found = ChoiceReader(case.choices).read(trace.response)
        details: JsonObject = {"rule": found.rule, "selected": list(found.ids)}
        if not found.ids:
            given = f" ({found.given!r} is no choice)" if found.given is not None else ""
            return Outcome(
                passed=False,
                score=0.0,
                reason=f"selected: none{given}",
                details={**details, "no_choice": True},
            )
        passed = self._is_correct(set(found.ids), set(case.correct_choice_ids))
        wanted = "" if passed else f"; correct: {', '.join(case.correct_choice_ids)}"
        return Outcome(
            passed=passed,
            score=float(passed),
            reason=f"selected: {', '.join(found.ids)}{wanted}",
            details=details,
        )

    def _is_correct(self, selected: set[str], correct: set[str]) -> bool:
        return selected == correct if self.match == "exact" else selected <= correct
