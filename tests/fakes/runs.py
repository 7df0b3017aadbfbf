"""Runs and results to keep."""

from __future__ import annotations

from fakes.plans import plan
from fakes.targets import trace
from steelyard.model.outcome import Outcome
from steelyard.model.run import RecordStatus, Result, RunState
from steelyard.model.verdict import CheckResult, Verdict
from steelyard.results.attempts import Attempt
from steelyard.results.stored_run import StoredRun


def stored_run(
    name: str = "1",
    *,
    created_at: str = "2026-01-15T12:00:00",
    status: RunState = "queued",
    owner: str | None = None,
) -> StoredRun:
    """The run `run_<name>`."""
    return StoredRun(
        run_id=f"run_{name}",
        status=status,
        created_at=created_at,
        dataset="d",
        plan=plan(),
        owner=owner,
    )


def evaluated(index: int, repeat: int = 0, *, text: str = "yes", checks: int = 1) -> Result:
    """A result with an answer and so many checks, `check0` first."""
    results = tuple(
        CheckResult(check=f"check{n}", kind="equals", outcome=Outcome.passing("equals 'yes'"))
        for n in range(checks)
    )
    verdict = Verdict(status="evaluated", results=results, score=1.0, raw_score=1.0, passed=True)
    return Result(
        index=index,
        record_id=f"r{index}",
        status="evaluated",
        repeat=repeat,
        target="t",
        trace=trace(text),
        verdict=verdict,
        attempts=1,
    )


def unevaluated(index: int, status: RecordStatus) -> Result:
    """A result without an answer."""
    return Result(
        index=index, record_id=f"r{index}", status=status, label=status, message="on purpose"
    )


def attempt(index: int, number: int = 1, *, repeat: int = 0, at: str = "2026-01-15") -> Attempt:
    """One try of the record `r<index>`."""
    return Attempt(
        index=index, record_id=f"r{index}", target="t", repeat=repeat, attempt=number, at=at
    )
