"""One record in two runs: the question once, both answers, and the words that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from msgspec import UNSET

from steelyard.model.labels.votes import ResponseVotes
from steelyard.reports.asked_text import expected_text, question_and_context, request_text
from steelyard.reports.texts import MAX_ANSWER
from steelyard.reports.verdict_words import (
    VerdictWord,
    check_word,
    passed_word,
    repeats_text,
    repeats_word,
)
from steelyard.reports.word_diff import WordDiff, word_diff
from steelyard.results.predictions import CheckScore, Prediction


class CheckReason(NamedTuple):
    """What a check found, and why."""

    name: str
    word: VerdictWord
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRecord:
    """A record in one run."""

    index: int
    repeat: int
    target: str | None
    word: VerdictWord
    """Of all repeats together."""
    repeats: str
    """How many of its repeats pass, and which one is shown; empty where there is one."""
    answer: str | None
    cut: int
    """So many characters of the answer are left out."""
    reason: str | None
    """Why there is no score; None where there is one."""
    checks: tuple[CheckReason, ...]
    votes: ResponseVotes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPair:
    """A record in two runs."""

    name: str
    asked: str | None
    context: str | None
    """The other messages of the request."""
    asked_otherwise: str | None
    """The whole request to A, if it differs."""
    expected: str | None
    tags: tuple[str, ...]
    change: float
    """How much more often B passes it."""
    a: AnsweredRecord
    b: AnsweredRecord

    @property
    def diff(self) -> WordDiff:
        """The words that differ between the two answers."""
        return word_diff(self.a.answer or "", self.b.answer or "")

    @property
    def people(self) -> VerdictWord | None:
        """What people say about the change; None unless they read both answers."""
        votes = [side.votes.is_good if side.votes else None for side in (self.a, self.b)]
        if None in votes or not self.change:
            return None
        change = cast(bool, votes[1]) - cast(bool, votes[0])
        if not change:
            return VerdictWord("invalid", "People see no difference")
        if change * self.change > 0:
            return VerdictWord("pass", "People agree")
        return VerdictWord("fail", "People say the opposite")


def record_pair(
    a: Sequence[Prediction],
    b: Sequence[Prediction],
    change: float,
    votes: tuple[ResponseVotes | None, ResponseVotes | None] = (None, None),
) -> RecordPair:
    """A record with its repeats in A and in B; shown are repeats in which the change is seen."""
    one, other = _shown(a, change < 0, change), _shown(b, change > 0, change)
    asked_a, asked_b = request_text(one), request_text(other)
    asked, context = question_and_context(other if asked_b is not None else one)
    tags = other.slices.get("tags", ()) if other.slices is not UNSET else ()
    return RecordPair(
        name=other.record_id if other.record_id is not None else f"record {other.index}",
        asked=asked,
        context=context,
        asked_otherwise=asked_a if asked_a != asked_b and asked_b is not None else None,
        expected=expected_text(other) or expected_text(one),
        tags=(tags,) if isinstance(tags, str) else tuple(tags),
        change=change,
        a=answered_record(one, a, votes[0]),
        b=answered_record(other, b, votes[1]),
    )


def _shown(rows: Sequence[Prediction], shall_pass: bool, change: float) -> Prediction:
    if not change:
        return rows[0]
    return next((row for row in rows if row.passed is shall_pass), rows[0])


def answered_record(
    row: Prediction, repeats: Sequence[Prediction], votes: ResponseVotes | None = None
) -> AnsweredRecord:
    """One repeat of a record, with a word on the others."""
    answer = row.model_response
    cut = max(0, len(answer) - MAX_ANSWER) if answer is not None else 0
    return AnsweredRecord(
        index=row.index,
        repeat=row.repeat,
        target=row.target,
        word=repeats_word(repeats),
        repeats=_repeats(row, repeats),
        answer=answer[:MAX_ANSWER] if answer is not None else None,
        cut=cut,
        reason=None if row.status == "evaluated" else row.reason or row.status,
        checks=tuple(check_reasons(row.evaluator_scores)),
        votes=votes,
    )


def _repeats(row: Prediction, repeats: Sequence[Prediction]) -> str:
    text = repeats_text(repeats)
    return f"{text}; repeat {row.repeat} is shown" if text else ""


def check_reasons(scores: Sequence[CheckScore]) -> Iterator[CheckReason]:
    """What each check found, and what jurors say beyond that; those that fail come first."""
    found = list(_reasons(scores))
    yield from sorted(found, key=lambda one: one.word.kind != "fail")


def _reasons(scores: Sequence[CheckScore]) -> Iterator[CheckReason]:
    said = {score.reason for score in scores}
    for score in scores:
        yield CheckReason(score.check, check_word(score), score.reason or "")
        for juror in _jurors(score.details):
            reason = juror.get("reason")
            if isinstance(reason, str) and reason not in said:
                said.add(reason)
                yield CheckReason(_short(juror.get("judge")), _vote(juror), reason)


def _jurors(details: Mapping[str, Any] | str) -> list[Mapping[str, Any]]:
    """The members of a jury; none where a project has the details redacted."""
    jurors: Any = {} if isinstance(details, str) else details.get("jurors", [])
    if not isinstance(jurors, list):
        return []
    return [one for one in cast("list[Any]", jurors) if isinstance(one, dict)]


def _vote(juror: Mapping[str, Any]) -> VerdictWord:
    passed = juror.get("passed")
    return passed_word(passed if isinstance(passed, bool) else None)


def _short(judge: object) -> str:
    """The id of a judge, without kind and version."""
    return str(judge).removeprefix("judge/").partition("@")[0]
