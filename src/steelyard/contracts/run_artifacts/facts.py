"""What metrics need to know of a result, and nothing more."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import msgspec

from steelyard.model.run import CACHED, Result


@dataclass(frozen=True, slots=True)
class CheckFact:
    """One check's part."""

    check: str
    kind: str
    status: str
    score: float | None
    passed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One result's part in the metrics."""

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
    cost_usd: float | None
    cluster: str | None
    slices: tuple[tuple[str, str | None], ...]
    checks: tuple[CheckFact, ...]
    is_cached: bool = False
    saved_usd: float | None = None


read_facts = msgspec.json.Decoder(Facts).decode


def facts_of(result: Result) -> Facts:
    """The facts of a result."""
    verdict, trace = result.verdict, result.trace
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
        input_tokens=trace.usage.input_tokens if trace else None,
        output_tokens=trace.usage.output_tokens if trace else None,
        cost_usd=result.cost_usd,
        cluster=_cluster(result.cluster),
        slices=result.slices,
        checks=tuple(
            CheckFact(
                entry.check,
                entry.kind,
                entry.outcome.status,
                entry.outcome.score,
                entry.outcome.passed,
            )
            for entry in (verdict.results if verdict else ())
        ),
        is_cached=result.response_source == CACHED,
        saved_usd=result.saved_usd,
    )


def _cluster(name: str | None) -> str | None:
    """A conversation by its hash: two whose names are redacted stay two."""
    if name is None:
        return None
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
