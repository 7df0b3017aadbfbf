"""A trace under a rubric: every check, then one verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import fsum
from statistics import median
from typing import cast

from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Combine, Rubric, RubricCheck
from steelyard.model.trace import Trace
from steelyard.model.verdict import CheckResult, Verdict


def grade(rubric: Rubric, trace: Trace, case: Case) -> Verdict:
    """Carry out every check and combine what they found.

    A check that could not be carried out leaves the case without a score: `evaluation_error`,
    never a 0 and never a pass. Skipped checks leave the combination; if all are skipped, so is
    the case.
    """
    results = tuple(_result(entry, trace, case) for entry in rubric.checks)
    unscored = [result for result in results if result.outcome.status == "unscored"]
    if unscored:
        first = unscored[0]
        reason = f"{first.check}: {first.outcome.reason}"
        return Verdict(status="evaluation_error", results=results, reason=reason)
    scored = [result for result in results if result.outcome.status == "scored"]
    if not scored:
        reasons = "; ".join(f"{result.check}: {result.outcome.reason}" for result in results)
        return Verdict(status="skipped", results=results, reason=reasons)
    score = _combined(rubric.combine, scored)
    failed = [result for result in scored if result.required and not result.outcome.passed]
    enough = 1.0 if rubric.combine in {"all_pass", "any_pass"} else rubric.pass_threshold
    passed = not failed and score >= enough
    return Verdict(
        status="evaluated",
        results=results,
        score=score,
        raw_score=score,
        passed=passed,
        reason=_reason(scored, failed, passed),
    )


def _result(entry: RubricCheck, trace: Trace, case: Case) -> CheckResult:
    outcome = _outcome(entry, trace, case)
    return CheckResult(
        check=entry.id,
        kind=entry.check.kind,
        outcome=_negated(outcome) if entry.negate else outcome,
        weight=entry.weight,
        required=entry.required,
    )


def _outcome(entry: RubricCheck, trace: Trace, case: Case) -> Outcome:
    """What a check finds; one that breaks, or breaks its promise, could not be carried out."""
    try:
        outcome = cast(object, entry.check.check(trace, case))
    except Exception as error:  # noqa: BLE001 - a check's bug is that record's business, not the run's
        return Outcome.unscored(f"{type(error).__name__}: {error}")
    if not isinstance(outcome, Outcome):
        return Outcome.unscored(f"the check returned {type(outcome).__name__}, not an Outcome")
    if outcome.status == "scored" and not _is_scored(outcome):
        said = f"score {outcome.score}, passed {outcome.passed}"
        return Outcome.unscored(f"a result needs a score in [0, 1] and a pass, not {said}")
    return outcome


def _is_scored(outcome: Outcome) -> bool:
    return outcome.passed is not None and outcome.score is not None and 0 <= outcome.score <= 1


def _negated(outcome: Outcome) -> Outcome:
    if outcome.status != "scored":
        return outcome
    return replace(
        outcome,
        passed=not outcome.passed,
        score=1.0 - cast(float, outcome.score),
        reason=f"not: {outcome.reason}",
    )


def _combined(combine: Combine, scored: Sequence[CheckResult]) -> float:
    scores = [cast(float, result.outcome.score) for result in scored]
    passes = [bool(result.outcome.passed) for result in scored]
    if combine == "weighted_avg":
        return _weighted(scores, [result.weight for result in scored], passes)
    rules: dict[str, Callable[[], float]] = {
        "all_pass": lambda: float(all(passes)),
        "any_pass": lambda: float(any(passes)),
        "min": lambda: min(scores),
        "max": lambda: max(scores),
        "median": lambda: float(median(scores)),
    }
    return rules[combine]()


def _weighted(scores: list[float], weights: list[float], passes: list[bool]) -> float:
    """The weighted mean; where nothing has weight, checks only gate and all must pass."""
    total = fsum(weights)
    if total == 0:
        return float(all(passes))
    # exact sums, so that eight of ten checks of weight 0.1 reach a threshold of 0.8
    return fsum(score * weight for score, weight in zip(scores, weights, strict=True)) / total


def _reason(scored: list[CheckResult], failed: list[CheckResult], passed: bool) -> str:
    if failed:
        return f"required check {failed[0].check}: {failed[0].outcome.reason}"
    shown = [result for result in scored if bool(result.outcome.passed) is passed] or scored
    return f"{shown[0].check}: {shown[0].outcome.reason}"
