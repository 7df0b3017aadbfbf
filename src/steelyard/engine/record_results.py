"""What becomes of a record, as its result."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from steelyard.engine.budget import Stop
from steelyard.engine.record_work import Work
from steelyard.errors import NO_RESPONSE, TargetError
from steelyard.model.run import CACHED, MAY_HAVE_BEEN_SENT, RecordStatus, Result
from steelyard.model.trace import Trace
from steelyard.model.verdict import Verdict
from steelyard.results.attempts import Attempt


def graded_of(
    work: Work,
    trace: Trace,
    tried: Sequence[Attempt],
    verdict: Verdict,
    *,
    cost: float | None,
    key: bytes | None,
) -> Result:
    """The result of a record that was answered; without an attempt it was so before."""
    is_evaluated, known = verdict.status == "evaluated", work.record
    # Written out: `replace` would take twice the time, once a record.
    return Result(
        index=known.index,
        record_id=known.record_id,
        status=verdict.status,
        record_sha256=known.record_sha256,
        target=known.target,
        repeat=known.repeat,
        trace=trace,
        verdict=verdict,
        label=None if is_evaluated else verdict.status,
        message="" if is_evaluated else verdict.reason,
        attempts=work.attempt if tried else 0,
        first_attempt_at=known.first_attempt_at or (tried[0].at if tried else None),
        last_attempt_at=tried[-1].at if tried else None,
        response_source=known.response_source if tried else CACHED,
        cost_usd=cost if tried else None,
        answer_key=key,
        copied_attempts=known.copied_attempts,
        saved_usd=None if tried else cost,
        slices=known.slices,
        cluster=known.cluster,
        asking=known.asking,
        private=known.private,
    )


def failure_of(work: Work, error: TargetError, attempt: Attempt) -> Result:
    """The result of a record whose last try has failed."""
    status: RecordStatus = "timeout" if error.code == "timeout" else "evaluation_error"
    return replace(
        work.record.result(status),
        label=error.code,
        message=str(error),
        attempts=work.attempt,
        first_attempt_at=work.record.first_attempt_at or attempt.at,
        last_attempt_at=attempt.at,
    )


def made_before(work: Work, error: TargetError) -> Result:
    """The result of a record whose calls another run has made, as it failed there."""
    last = work.past[-1]
    has_reason = last.error_code is not None and error.code != NO_RESPONSE
    cause = TargetError(last.error_code or "", last.message or str(error)) if has_reason else error
    return failure_of(work, cause, last)


def cancelled_of(work: Work, stop: Stop, attempt: Attempt | None) -> Result:
    """The result of a record that was not asked, or not to the end."""
    first = work.record.first_attempt_at or (attempt.at if attempt else None)
    # Calls of another run are in this one only where their answer is graded.
    # A call that was cut off uses no attempt.
    attempts = 0 if work.past else work.attempt - 1
    is_cut_off = first is not None and not attempts and not work.past
    return replace(
        work.record.result("cancelled"),
        label=stop.label,
        message=f"{stop.message}{MAY_HAVE_BEEN_SENT * is_cut_off}",
        attempts=attempts,
        copied_attempts=0,
        response_source=None,
        first_attempt_at=first,
        last_attempt_at=attempt.at if attempt else None,
    )
