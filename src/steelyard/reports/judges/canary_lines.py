"""What a judge did with each answer that it must fail, as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from steelyard.model.statistics.validation import CanaryCount, CanaryTally
from steelyard.reports.numbers import count
from steelyard.reports.verdict_words import VerdictWord

_PASSES = VerdictWord("fail", "Passes it")
_FAILS = VerdictWord("pass", "Fails it")
_NO_SCORE = VerdictWord("unscored", "No score")
_UNKNOWN = VerdictWord("unscored", "Not passed")


class CanaryLine(NamedTuple):
    """One canary."""

    name: str
    word: VerdictWord
    about: str
    """How many of how many cases; empty where that was not stored."""
    why: str
    """What a judge that passes it falls for."""


def canaries_say(tally: CanaryTally) -> str:
    """What the judge did with all of them, in a sentence."""
    if not tally.scored:
        return f"None of {count(tally.asked)} has a score."
    missing = ""
    if tally.unscored:
        missing = f" {count(tally.unscored)} {'has' if tally.unscored == 1 else 'have'} no score."
    if tally.passed:
        passed, scored = count(tally.passed), count(tally.scored)
        return f"It passes {passed} of {scored} answers that it must fail.{missing}"
    which = "the answer" if tally.scored == 1 else f"all {count(tally.scored)} answers"
    return (
        f"It fails {which} that it must fail{', where it has a score' * bool(missing)}.{missing}"
    )


def canary_lines(tally: CanaryTally, why: Mapping[str, str]) -> tuple[CanaryLine, ...]:
    """Each canary, those that it passed first; `why` names those that are tried today."""
    if tally.by_canary:
        rows = [
            CanaryLine(one.id, _word(one), _about(one), why.get(one.id, ""))
            for one in tally.by_canary
        ]
    else:
        names = [*why, *sorted(set(tally.passed_ids) - why.keys())]
        rows = [CanaryLine(name, _stored(tally, name), "", why.get(name, "")) for name in names]
    order = [_PASSES, _NO_SCORE, _UNKNOWN, _FAILS]
    return tuple(sorted(rows, key=lambda row: order.index(row.word)))


def _word(one: CanaryCount) -> VerdictWord:
    if one.passed:
        return _PASSES
    return _NO_SCORE if one.unscored == one.asked else _FAILS


def _about(one: CanaryCount) -> str:
    scored = one.asked - one.unscored
    if not scored:
        return f"none of {count(one.asked)} has a score"
    number = one.passed or scored
    missing = f", {count(one.unscored)} without a score" if one.unscored else ""
    return f"{count(number)} of {count(scored)}{missing}"


def _stored(tally: CanaryTally, name: str) -> VerdictWord:
    """Of a validation that stored only which canaries were passed."""
    if name in tally.passed_ids:
        return _PASSES
    if not tally.scored:
        return _NO_SCORE
    return _UNKNOWN if tally.unscored else _FAILS
