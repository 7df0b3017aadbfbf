"""`fact_match`: the response states enough of the expected facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, TypeAlias

from rapidfuzz import fuzz, process

from steelyard.checks.fact_words import DENYING, FUNCTION_WORDS, fact_words
from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import clip
from steelyard.errors import SettingError
from steelyard.formats.json_fields import text_list
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

_OPENING = frozenset(
    {"The", "A", "An", "It", "In", "On", "At", "Der", "Die", "Das", "Ein", "Le", "La", "Les", "El"}
)
_NEAR_FROM = 5
_NEAR = 90
# A passage has twice as many words as the fact, and so many more for what stands between them.
_BETWEEN = 10

FactText: TypeAlias = Annotated[str, Rule("A fact; not blank.", {"pattern": r"\S"})]


class Passages:
    """A text in which facts are looked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._forms: list[str] = []
        self._denied: dict[int, str] = {}
        self._spots: dict[str, list[int]] = defaultdict(list)
        self._alike: dict[str, list[str]] = defaultdict(list)
        for spot, word in enumerate(fact_words(text)):
            self._forms.append(word.form)
            self._spots[word.form].append(spot)
            if word.is_denied:
                self._denied[spot] = word.form
        for form in self._spots:
            self._alike[form[0]].append(form)

    def state(self, fact: str) -> bool:
        """Whether the text states the fact."""
        words = list(fact_words(fact))
        if not words:
            return fact.strip() in self._text
        telling = {word.form for word in words if not word.is_small}
        if words[0].written in _OPENING:
            telling.discard(words[0].form)
        wanted = telling or {word.form for word in words}
        unspaced = {word for word in wanted if word.isalpha() and word.upper() == word}
        if not all(word in self._run_together for word in unspaced):
            return False
        denied: Mapping[int, str] = {}
        if not any(word.form in DENYING for word in words):
            denied = self._denied
            # A small word tells after all where the text denies it: "will not pay".
            wanted |= {word.form for word in words} & set(denied.values()) - FUNCTION_WORDS
        return self._stand_together(wanted - unspaced, 2 * len(words) + _BETWEEN, denied)

    @cached_property
    def _run_together(self) -> str:
        """The words without spaces: scripts without capitals may not have any."""
        return "".join(self._forms)

    def _stand_together(self, wanted: set[str], span: int, denied: Mapping[int, str]) -> bool:
        """Whether some stretch of so many words has all that is wanted."""
        found: list[tuple[int, str]] = []
        for word in sorted(wanted):
            spots = [spot for spot in self._spots_of(word) if spot not in denied]
            if not spots:
                return False
            found.extend((spot, word) for spot in spots)
        last: dict[str, int] = {}
        for spot, word in sorted(found):
            last[word] = spot
            if len(last) == len(wanted) and spot - min(last.values()) < span:
                return True
        return not wanted

    def _spots_of(self, word: str) -> list[int]:
        if len(word) < _NEAR_FROM or not word.isalpha():
            return self._spots.get(word, [])
        near = process.extract(
            word, self._alike[word[0]], scorer=fuzz.ratio, score_cutoff=_NEAR, limit=None
        )
        return [spot for other, _, _ in near for spot in self._spots[other]]


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
