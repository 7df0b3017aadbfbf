"""What a call to a target is logged as."""

from __future__ import annotations

from typing import TypeGuard

from steelyard.engine.claims import Call
from steelyard.engine.record_work import TARGET_CALL, Work
from steelyard.errors import TargetError
from steelyard.model.run import (
    ADAPTED,
    INTERRUPTED,
    INTERRUPTED_MESSAGE,
    MAY_HAVE_BEEN_SENT,
    OUTAGE,
)
from steelyard.model.trace import Trace
from steelyard.results.attempts import Attempt

LOST = "the connection, which was kept from an earlier call, was lost"


def interruption(why: str | None = None) -> TargetError:
    """How a call ends that is cut off: because its run stops, or else its process."""
    message = f"{why}{MAY_HAVE_BEEN_SENT}" if why else INTERRUPTED_MESSAGE
    return TargetError(INTERRUPTED, message)


def outage(error: TargetError) -> TargetError:
    """How a call ends that is made again when its target, which is away, is back."""
    message = f"the target is away ({error.code}: {error}); asked again when it is back"
    return TargetError(OUTAGE, message, http_status=error.http_status, request_id=error.request_id)


def lost(error: TargetError) -> TargetError:
    """How a call ends that is made again because the connection kept for it was closed."""
    return TargetError(OUTAGE, f"{LOST} ({error}); asked again on a new one")


def probe_answered(answer: Trace) -> TargetError:
    """How a call ends that was made once more only to see whether its target is back."""
    message = "the target was away; asked again to see whether it is back, and it answered"
    return TargetError(OUTAGE, message, http_status=answer.served and answer.served.http_status)


def is_adapted(answer: Trace | TargetError) -> TypeGuard[TargetError]:
    """Whether a call shall be made again because its target knows better by now how to ask."""
    return isinstance(answer, TargetError) and answer.code == ADAPTED


def call_of(work: Work) -> Call:
    """As much of an attempt as is known before its call is made."""
    known = work.record
    return known.index, known.repeat, work.attempt, known.claimed_id, known.target or ""


def attempt_of(
    work: Work,
    at: str,
    *,
    trace: Trace | None = None,
    error: TargetError | None = None,
    elapsed: float | None = None,
    wait: float | None = None,
) -> Attempt:
    """One try of the call, as it went."""
    usage = trace.usage if trace else None
    source = error or (trace.served if trace else None)
    return Attempt(
        index=work.record.index,
        record_id=work.record.record_id,
        target=work.record.target or "",
        repeat=work.record.repeat,
        call=TARGET_CALL,
        attempt=work.attempt,
        at=at,
        latency_ms=trace.latency_ms if trace else elapsed,
        first_token_ms=trace.first_token_ms if trace else None,
        error_code=error.code if error else None,
        message=str(error) if error else None,
        http_status=source.http_status if source else None,
        retry_in_s=None if wait is None else round(wait, 3),
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        request_id=source.request_id if source else None,
    )
