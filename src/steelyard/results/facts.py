"""What metrics need to know of a result, and nothing more."""

from __future__ import annotations

import msgspec

from steelyard.model.json_value import Extra
from steelyard.model.run import CACHED, Judging, Result
from steelyard.model.verdict import CheckResult
from steelyard.results.predictions import cluster_of
from steelyard.results.question_facts import QuestionFact, question_facts


class CheckFact(msgspec.Struct, frozen=True, gc=False):
    """One check's part."""

    check: str
    kind: str
    status: str
    score: float | None
    """Before it was clipped to [0, 1], so that means agree with those of records."""
    passed: bool | None
    selects: bool | None = None
    """Whether the answer selects a choice; None where the check reads no choices."""


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One result's part in the metrics; what most results lack is not written.

    Facts hold no cycles, so that the garbage collector need not look at a million of them.
    """

    index: int
    repeat: int
    status: str
    attempts: int
    answered: bool
    score: float | None
    raw_score: float | None
    passed: bool | None
    latency_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    first_token_ms: float | None = None
    cost_usd: float | None = None
    copied_attempts: int = 0
    """Those of the attempts that another run has made."""
    copied_usd: float | None = None
    cluster: str | None = None
    slices: tuple[tuple[str, str | None], ...] = ()
    checks: tuple[CheckFact, ...] = ()
    is_cached: bool = False
    saved_usd: float | None = None
    questions: dict[str, tuple[QuestionFact, ...]] = {}
    """What judges were asked one by one, by check."""
    judging: Judging | None = None
    """What the judges took, whose cost is a part of the whole."""


read_facts = msgspec.json.Decoder(Facts).decode


def facts_of(result: Result) -> Facts:
    """The facts of a result."""
    verdict, trace = result.verdict, result.trace
    checked = verdict.results if verdict else ()
    return Facts(
        index=result.index,
        repeat=result.repeat,
        status=result.status,
        attempts=result.attempts,
        answered=trace is not None,
        score=verdict.score if verdict else None,
        raw_score=verdict.raw_score if verdict else None,
        passed=verdict.passed if verdict else None,
        latency_ms=trace.latency_ms if trace else None,
        first_token_ms=trace.first_token_ms if trace else None,
        input_tokens=trace.usage.input_tokens if trace else None,
        output_tokens=trace.usage.output_tokens if trace else None,
        cost_usd=result.cost_usd,
        copied_attempts=result.copied_attempts,
        copied_usd=result.copied_usd,
        cluster=None if result.cluster is None else cluster_of(result.cluster),
        slices=result.slices,
        checks=tuple([_check_fact(one) for one in checked]),
        is_cached=result.response_source == CACHED,
        saved_usd=result.saved_usd,
        questions={
            entry.check: asked
            for entry in checked
            if entry.outcome.details and (asked := question_facts(entry.outcome))
        },
        judging=result.judging,
    )


def _check_fact(result: CheckResult) -> CheckFact:
    found = result.outcome
    score = found.score if found.raw_score is None else found.raw_score
    return CheckFact(
        *(result.check, result.kind, found.status),
        *(score, found.passed, _selects(found.details)),
    )


def _selects(details: Extra) -> bool | None:
    """What the check `choice` found, on its own or within another."""
    if not details:
        return None
    if "selected" in details:
        return bool(details["selected"])
    results = details.get("results")
    for row in results if isinstance(results, list) else ():
        inner = row.get("details") if isinstance(row, dict) else None
        found = _selects(inner) if isinstance(inner, dict) else None
        if found is not None:
            return found
    return None
