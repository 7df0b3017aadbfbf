"""`fact_match`: the response states enough of the expected facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeAlias

from steelyard.checks.passages import Passages
from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import clip
from steelyard.errors import SettingError
from steelyard.formats.json_fields import text_list
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

FactText: TypeAlias = Annotated[str, Rule("A fact; not blank.", {"pattern": r"\S"})]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactMatch:
    """Pass when the share of facts that are found, which is the score, reaches the threshold."""

    kind: ClassVar[str] = "fact_match"
    revision: ClassVar[int] = 3

    facts: Annotated[
        tuple[FactText, ...], Rule("The facts; without them the case's expected_facts.")
    ] = ()
    threshold: Annotated[
        float, Rule("The share of facts to be found.", {"minimum": 0, "maximum": 1})
    ] = 0.7

    def __post_init__(self) -> None:
        """Refuse a fact that says nothing."""
        if not all(fact.strip() for fact in self.facts):
            raise SettingError("facts", "a fact must not be blank")

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Look for each fact."""
        facts = self.facts or tuple(text_list(case.expected, "expected_facts"))
        if not facts:
            return Outcome.skipped("neither the check nor the case states facts")
        passages = Passages(trace.response)
        missing = [fact for fact in facts if not passages.state(fact)]
        found = len(facts) - len(missing)
        score = found / len(facts)
        reason = f"{found} of {len(facts)} fact(s) found"
        if missing:
            reason += f"; missing: {clip(missing[0])!r}"
            reason += f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return Outcome(passed=score >= self.threshold, score=score, reason=reason)
