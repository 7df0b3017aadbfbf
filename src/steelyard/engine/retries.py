"""When a failed call is tried again: contract 2's policy."""

from __future__ import annotations

import math
import random

from steelyard.errors import TargetError
from steelyard.model.run import TRANSIENT
from steelyard.settings import RetrySettings

MAX_RETRY_AFTER_S = 300.0
LOST_S = 0.002
"""Until a lost call is made again: rows of calls that use no attempt are told apart by their
times, which are written to the millisecond."""


def is_bearable(retry_after_s: float, left_s: float) -> bool:
    """Whether a server's wish is worth waiting for: neither absurd nor past the deadline."""
    return retry_after_s <= max(0.0, min(MAX_RETRY_AFTER_S, left_s))


def retry_wait(
    retry: RetrySettings,
    error: TargetError,
    attempt: int,
    chance: random.Random,
    left_s: float = math.inf,
) -> float | None:
    """Seconds until the next attempt, or None when there is none.

    Only transient errors are tried again. A server's `Retry-After` wins when it is longer, and
    ends the record when nobody would wait for it.
    """
    if error.code not in TRANSIENT or attempt >= retry.max_attempts:
        return None
    demanded = error.retry_after_s or 0.0
    if not is_bearable(demanded, left_s):
        return None
    planned = retry.backoff_s[:attempt][-1] if retry.backoff_s else 0.0
    varied = planned * (1 + retry.jitter * chance.uniform(-1, 1))
    return max(varied, demanded)
