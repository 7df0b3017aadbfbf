"""Verdicts and states as people read them: a kind for colour and icon, and a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from steelyard.results.predictions import CheckScore, Prediction

Kind: TypeAlias = Literal["pass", "fail", "unscored", "skipped", "invalid", "live", "flag"]


class VerdictWord(NamedTuple):
    """How a verdict is shown; colour and icon follow from the kind."""

    kind: Kind
    word: str


_STATUSES = {
    "timeout": VerdictWord("unscored", "Timeout"),
    "evaluation_error": VerdictWord("unscored", "No score"),
    "invalid_record": VerdictWord("invalid", "Invalid"),
    "cancelled": VerdictWord("skipped", "Cancelled"),
    "skipped": VerdictWord("skipped", "Skipped"),
}
_RUN_STATES = {
    "queued": VerdictWord("live", "Queued"),
    "validating": VerdictWord("live", "Validating"),
    "running": VerdictWord("live", "Running"),
    "retrying": VerdictWord("live", "Retrying"),
    "finalizing": VerdictWord("live", "Finalizing"),
    "completed": VerdictWord("pass", "Completed"),
    "completed_with_failures": VerdictWord("unscored", "Completed with failures"),
    "failed": VerdictWord("fail", "Failed"),
    "cancelled": VerdictWord("skipped", "Cancelled"),
    "being cancelled": VerdictWord("live", "Being cancelled"),
    "stopped, can be resumed": VerdictWord("invalid", "Stopped, can be resumed"),
    "stopped, cannot be resumed": VerdictWord("fail", "Stopped, cannot be resumed"),
}
_WINNERS = {
    "a": VerdictWord("fail", "A wins"),
    "b": VerdictWord("pass", "B wins"),
    "tie": VerdictWord("skipped", "Tie"),
    "contradiction": VerdictWord("invalid", "Contradiction"),
}
_NO_SCORE = VerdictWord("unscored", "No score")
_MIXED = VerdictWord("skipped", "Mixed")
_INCOMPLETE = VerdictWord("unscored", "Incomplete")
_UNSCORED = VerdictWord("unscored", "Unscored")
_CHECK_STATUSES = {"skipped": VerdictWord("skipped", "Skipped"), "unscored": _UNSCORED}


def passed_word(passed: bool | None) -> VerdictWord:
    """Pass, fail, or no score."""
    if passed is None:
        return _NO_SCORE
    return VerdictWord("pass", "Pass") if passed else VerdictWord("fail", "Fail")


def record_word(status: str, passed: bool | None) -> VerdictWord:
    """The verdict of a record by its status."""
    return _STATUSES.get(status) or passed_word(passed)


def row_word(row: Prediction) -> VerdictWord:
    """The verdict of a record; unscored where there is an answer that no check could judge."""
    if row.status == "evaluation_error" and row.trace is not None:
        return _UNSCORED
    return record_word(row.status, row.passed)


def repeats_word(rows: Sequence[Prediction]) -> VerdictWord:
    """The verdict of a record with its repeats: one only where all have the same."""
    words = [row_word(row) for row in rows]
    if len(set(words)) == 1:
        return words[0]
    scored = [row for row in rows if row.status == "evaluated"]
    if not scored:
        return _NO_SCORE
    return _MIXED if len(scored) == len(rows) else _INCOMPLETE


def repeats_text(rows: Sequence[Prediction]) -> str:
    """How many repeats of a record pass, and how many have no score; empty for a single one."""
    if len(rows) < 2:
        return ""
    scored = [row for row in rows if row.status == "evaluated"]
    missing = len(rows) - len(scored)
    passes = sum(row.is_passed for row in scored)
    if not scored:
        return f"none of {len(rows):,} repeats has a score"
    which = "scored repeats" if missing else "repeats"
    text = f"{passes:,} of {len(scored):,} {which} pass"
    return f"{text}, {missing:,} without a score" if missing else text


def winner_word(row: Prediction) -> VerdictWord:
    """Which of two answers a judge prefers, as a verdict of a pairwise run."""
    details = row.evaluator_scores[0].details if row.evaluator_scores else {}
    winner = details.get("winner") if isinstance(details, dict) else None
    return _WINNERS.get(str(winner)) or row_word(row)


def check_word(score: CheckScore) -> VerdictWord:
    """The verdict of one check."""
    if score.status != "scored":
        return _CHECK_STATUSES.get(score.status, _NO_SCORE)
    return passed_word(score.passed)


def run_word(standing: str) -> VerdictWord:
    """The state of a run, or where it stands."""
    return _RUN_STATES[standing]
