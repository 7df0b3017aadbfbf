"""A record in words: why it has no score, what a good answer says, and how repeats differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from markupsafe import Markup

from steelyard.engine.redaction.marks import marks_in
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.reports.asked_text import shown
from steelyard.reports.record.check_view import CheckView, check_views
from steelyard.reports.texts import MAX_ANSWER
from steelyard.reports.verdict_words import VerdictWord, row_word
from steelyard.reports.word_diff import marked, word_diff
from steelyard.results.failures import Failure
from steelyard.results.predictions import Prediction

_WHY = {
    "timeout": "the target did not answer in time.",
    "invalid_record": "the record does not fit its contract, so nothing was asked.",
    "cancelled": "the run was cancelled before this record was done.",
    "skipped": "no check had anything to look at in this record.",
}
_LABELS = {"judge": "a judge gave no verdict that can be used."}
_WORDS = {
    "answers": "Answer",
    "outcome": "Outcome",
    "choices": "Choice",
    "criteria": "Criterion",
    "messages": "Messages",
    "expected_facts": "Fact",
    "expected_tools": "Tool",
    "expected_answer": "Answer",
}
_DIFFERENCE = 20_000
"""Longer answers are shown without marks at the words that differ."""


class NoScore(NamedTuple):
    """Why a record has no score."""

    sentence: str
    words: str
    """The message of the provider, the judge or the reader, as it is."""
    attempts: int


class Expectation(NamedTuple):
    """One thing that a good answer says or does."""

    word: str
    value: JsonValue
    weight: float | None = None
    """The points of a criterion."""

    @property
    def text(self) -> str:
        """The value to read."""
        return shown(self.value)


class RepeatView(NamedTuple):
    """One repeat of a record beside the others."""

    repeat: int
    row: Prediction
    word: VerdictWord
    checks: tuple[CheckView, ...]
    answer: Markup | None
    """The answer, in which words are marked that the repeat on show does not have."""
    is_same: bool
    """Whether the answer is that of the repeat on show."""
    cut: int = 0
    """How many characters of the answer are left out."""

    def check(self, name: str) -> CheckView | None:
        """What a check found in this repeat; None where it has not graded it."""
        return next((one for one in self.checks if one.name == name), None)


def why_no_score(row: Prediction, failure: Failure | None) -> NoScore | None:
    """Why a record has no score, in words and in those of whoever failed; None if it has one."""
    if row.status == "evaluated":
        return None
    label = failure.label if failure else row.status
    because = _WHY.get(row.status) or _LABELS.get(label)
    because = because or f"it could not be evaluated ({label.replace('_', ' ')})."
    message = (failure.message if failure else None) or row.reason or ""
    return NoScore(f"No score: {because}", message, failure.attempts if failure else 0)


def expectations(expected: JsonObject | str | None) -> Iterator[Expectation]:
    """What a good answer says, one thing at a time."""
    if isinstance(expected, str):
        yield Expectation("", expected)
        return
    for name, value in (expected or {}).items():
        if name == "demands" and isinstance(value, dict):
            yield from expectations(value)
        elif isinstance(value, list) and name != "messages":
            yield from (_expectation(name, one) for one in value)
        else:
            yield Expectation(_word(name), value)


def _expectation(name: str, value: JsonValue) -> Expectation:
    if name == "criteria" and isinstance(value, dict) and "text" in value:
        weight = value.get("weight")
        points = float(weight) if isinstance(weight, int | float) else None
        return Expectation(_word(name), value["text"], points)
    return Expectation(_word(name), value)


def _word(name: str) -> str:
    return _WORDS.get(name) or name.replace("_", " ").capitalize()


def redactions(row: Prediction) -> Mapping[str, int]:
    """How many marks of redaction a record holds, by what was there; secrets have no name."""
    found = marks_in([msgspec.json.encode(row)])
    return {name or "secret": number for name, number in found.items()}


def repeat_views(rows: Sequence[Prediction], current: Prediction) -> list[RepeatView]:
    """All repeats; their answers are compared with that of the one on show."""
    return [_repeat(row, current) for row in sorted(rows, key=lambda row: row.repeat)]


def repeated_checks(repeats: Sequence[RepeatView]) -> tuple[str, ...]:
    """The names of all checks that have graded one of the repeats."""
    return tuple(dict.fromkeys(check.name for one in repeats for check in one.checks))


def _repeat(row: Prediction, current: Prediction) -> RepeatView:
    said, other = row.model_response, current.model_response
    answer = None if said is None else Markup("{}").format(said[:MAX_ANSWER])
    if said is not None and other is not None and row is not current:
        is_short = len(said) + len(other) <= _DIFFERENCE
        answer = marked(word_diff(other, said).b, "ins") if is_short else answer
    return RepeatView(
        repeat=row.repeat,
        row=row,
        word=row_word(row),
        checks=check_views(row.evaluator_scores),
        answer=answer,
        is_same=said == other,
        cut=max(0, len(said or "") - MAX_ANSWER),
    )


def tags_of(row: Prediction) -> tuple[str, ...]:
    """The tags of a record, where its run has kept them."""
    slices = row.slices if isinstance(row.slices, dict) else {}
    tags = slices.get("tags", [])
    return (tags,) if isinstance(tags, str) else tuple(tags)
