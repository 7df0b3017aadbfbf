"""A trace under a rubric: every check, then one verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import cast

import msgspec
from msgspec.structs import replace

from steelyard.engine.threads import in_thread
from steelyard.errors import TargetError
from steelyard.judging.instrument import rule_of
from steelyard.judging.once import Once
from steelyard.model.case import Case
from steelyard.model.json_value import Extra
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Check, Combine, JudgedCheck, Rubric, RubricCheck
from steelyard.model.scores import meant, weighted_mean
from steelyard.model.trace import Trace
from steelyard.model.verdict import CheckResult, Verdict

_NUMBERS = (int, float)  # a union would be made anew for each value that is looked at


def grade(rubric: Rubric, trace: Trace, case: Case) -> Verdict:
    """Carry out every check and combine what they found.

    A check that could not be carried out leaves the case without a score: `evaluation_error`,
    never a 0 and never a pass. Skipped checks leave the combination; if all are skipped, so is
    the case.
    """
    return combined(rubric, [check_result(entry, trace, case) for entry in rubric.checks])


async def grade_judged(rubric: Rubric, trace: Trace, case: Case, asker: Asker) -> Verdict:
    """The same where checks ask judges; all checks of a record are carried out at once."""
    asked = [judged_result(entry, trace, case, asker, rubric) for entry in rubric.checks]
    # A task for each of several alone: one more costs as much as it takes to read a reply.
    results = [await asked[0]] if len(asked) == 1 else await asyncio.gather(*asked)
    return combined(rubric, results)


def combined(rubric: Rubric, results: Sequence[CheckResult]) -> Verdict:
    """What the results of a rubric's checks come to."""
    scored: list[CheckResult] = []
    for result in results:
        status = result.outcome.status
        if status == "unscored":
            reason = f"{result.check}: {result.outcome.reason}"
            return Verdict(status="evaluation_error", results=tuple(results), reason=reason)
        if status == "scored":
            scored.append(result)
    if not scored:
        reasons = "; ".join(f"{result.check}: {result.outcome.reason}" for result in results)
        return Verdict(status="skipped", results=tuple(results), reason=reasons)
    score = _combined(rubric.combine, scored)
    failed = [result for result in scored if result.required and not result.outcome.passed]
    enough = 1.0 if rubric.combine in {"all_pass", "any_pass"} else rubric.pass_threshold
    passed = not failed and score >= enough
    return Verdict(
        status="evaluated",
        results=tuple(results),
        score=score,
        raw_score=_raw(rubric.combine, scored, score),
        passed=passed,
        reason=_reason(scored, failed, passed),
    )


def check_result(entry: RubricCheck, trace: Trace, case: Case) -> CheckResult:
    """What one check finds, in its place."""
    return _placed(entry, _outcome(entry, trace, case))


async def judged_result(
    entry: RubricCheck, trace: Trace, case: Case, asker: Asker, rubric: Rubric | None = None
) -> CheckResult:
    """The same for a check that may ask judges, and that may run programs."""
    check = entry.check
    if not hasattr(check, "ask"):
        if entry.runs_commands:
            return await in_thread(check_result, entry, trace, case)
        return check_result(entry, trace, case)
    try:
        judging = cast(JudgedCheck, check).ask(trace, case, asker.within(entry.id))
        return _placed(entry, _with_rule(entry, rubric, _sound(await judging)))
    except TargetError as error:
        return _placed(entry, Outcome.unscored(f"{error.code}: {error}"))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a check's bug is that record's business, not the run's
        return _placed(entry, Outcome.unscored(f"{type(error).__name__}: {error}"))


def _with_rule(entry: RubricCheck, rubric: Rubric | None, outcome: Outcome) -> Outcome:
    """What judges found together with what makes a pass of it, which a validation must know."""
    if not hasattr(entry.check, "questions"):
        return outcome
    return replace(outcome, details={**outcome.details, "rule": _rule_of(entry, rubric)})


_rule_of = Once(rule_of)


def _placed(entry: RubricCheck, outcome: Outcome) -> CheckResult:
    if entry.required and outcome.is_unavailable and not _fails(entry, outcome):
        outcome = replace(outcome, status="unscored", score=None, passed=None, raw_score=None)
    return CheckResult(
        check=entry.id,
        kind=entry.check.kind,
        outcome=_negated(outcome) if entry.negate else outcome,
        weight=entry.weight,
        required=entry.required,
    )


def _fails(entry: RubricCheck, outcome: Outcome) -> bool:
    """Whether what was looked at is enough to fail, whatever the rest would have come to."""
    return outcome.passed is False and not entry.negate


def _outcome(entry: RubricCheck, trace: Trace, case: Case) -> Outcome:
    """What a check finds; one that breaks, or breaks its promise, could not be carried out."""
    try:
        return _sound(cast("Check", entry.check).check(trace, case))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a check's bug is that record's business, not the run's
        return Outcome.unscored(f"{type(error).__name__}: {error}")


def _sound(outcome: object) -> Outcome:
    """What a check found, if it keeps its promise."""
    if not isinstance(outcome, Outcome):
        return Outcome.unscored(f"the check returned {type(outcome).__name__}, not an Outcome")
    if _is_plain(outcome):
        return outcome
    if outcome.status == "scored" and not _is_scored(outcome):
        given = f"score {outcome.score!r}, passed {outcome.passed!r}"
        return Outcome.unscored(f"a result needs a score in [0, 1] and a pass, not {given}")
    if wrong := _wrong_part(outcome):
        return Outcome.unscored(wrong)
    return outcome


def _is_plain(outcome: Outcome) -> bool:
    """Whether an outcome is a score, a pass and a reason, as nearly all are."""
    return (
        outcome.status == "scored"
        and type(outcome.score) is float
        and 0.0 <= outcome.score <= 1.0
        and (outcome.passed is True or outcome.passed is False)
        and type(cast(object, outcome.reason)) is str
        and outcome.raw_score is None
        and not outcome.details
    )


def _is_scored(outcome: Outcome) -> bool:
    score = outcome.score
    return isinstance(outcome.passed, bool) and _is_number(score) and 0 <= cast(float, score) <= 1


def _is_number(value: object) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def _wrong_part(outcome: Outcome) -> str | None:
    """What cannot be kept of an outcome."""
    if not isinstance(cast(object, outcome.reason), str):
        return f"a reason is a text, not {outcome.reason!r}"
    if outcome.raw_score is not None and not _is_number(outcome.raw_score):
        return f"a raw score is a number, not {outcome.raw_score!r}"
    return _wrong_details(outcome.details) if outcome.details else None


def _wrong_details(details: object) -> str | None:
    if not isinstance(details, Mapping):
        return f"details are an object, not {type(details).__name__}"
    try:
        msgspec.json.encode(dict(cast(Extra, details)))
    except UnicodeEncodeError:  # a half of a character, which is replaced when it is written
        return None
    except (TypeError, ValueError, RecursionError) as error:
        return f"the details are no JSON: {type(error).__name__}: {error}"
    return None


def _negated(outcome: Outcome) -> Outcome:
    if outcome.status != "scored":
        return outcome
    return replace(
        outcome,
        passed=not outcome.passed,
        score=meant(1.0 - cast(float, outcome.score)),
        raw_score=None,
        reason=f"not: {outcome.reason}",
    )


def _combined(combine: Combine, scored: Sequence[CheckResult]) -> float:
    scores = cast("list[float]", [result.outcome.score for result in scored])
    if combine == "weighted_avg":
        return _weighted(scores, scored)
    passes = [bool(result.outcome.passed) for result in scored]
    rules: dict[str, Callable[[], float]] = {
        "all_pass": lambda: float(all(passes)),
        "any_pass": lambda: float(any(passes)),
        "min": lambda: min(scores),
        "max": lambda: max(scores),
        "median": lambda: meant(median(scores)),
    }
    return rules[combine]()


def _raw(combine: Combine, scored: Sequence[CheckResult], score: float) -> float:
    """The score before clipping: a mean of raw scores, where a check has one."""
    stated = [one.outcome.raw_score for one in scored]
    if combine != "weighted_avg" or stated.count(None) == len(stated):
        return score
    raw = [
        cast(float, one.outcome.score if number is None else number)
        for one, number in zip(scored, stated, strict=True)
    ]
    return _weighted(raw, scored)


def _weighted(scores: Sequence[float], scored: Sequence[CheckResult]) -> float:
    """The weighted mean; where nothing has weight, checks only gate and all must pass."""
    weights = [one.weight for one in scored]
    if any(weights):
        return weighted_mean(scores, weights)
    return float(all(one.outcome.passed for one in scored))


def _reason(scored: list[CheckResult], failed: list[CheckResult], passed: bool) -> str:
    if failed:
        return f"required check {failed[0].check}: {failed[0].outcome.reason}"
    shown = scored[0]
    for result in scored:
        if bool(result.outcome.passed) is passed:
            shown = result
            break
    return f"{shown.check}: {shown.outcome.reason}"
