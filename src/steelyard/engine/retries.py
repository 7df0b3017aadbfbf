"""When a failed call is tried again: contract 2's policy."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from steelyard.errors import TargetError
from steelyard.model.run import TRANSIENT

MAX_RETRY_AFTER_S = 300.0


def is_bearable(retry_after_s: float, left_s: float) -> bool:
    """Whether a server's wish is worth waiting for: neither absurd nor past the deadline."""
    return retry_after_s <= max(0.0, min(MAX_RETRY_AFTER_S, left_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """At most so many attempts, with waits from a list, each varied by the jitter."""

    max_attempts: int = 3
    backoff_s: tuple[float, ...] = (2.0, 6.0, 14.0)
    jitter: float = 0.2

    def wait(
        self, error: TargetError, attempt: int, chance: random.Random, left_s: float = math.inf
    ) -> float | None:
        """Seconds until the next attempt, or None when there is none.

        Only transient errors are tried again. A server's `Retry-After` wins when it is longer,
        and ends the record when nobody would wait for it.
        """
        if error.code not in TRANSIENT or attempt >= self.max_attempts:
            return None
        demanded = error.retry_after_s or 0.0
        if not is_bearable(demanded, left_s):
            return None
        planned = self.backoff_s[:attempt][-1] if self.backoff_s else 0.0
        varied = planned * (1 + self.jitter * chance.uniform(-1, 1))
        return max(varied, demanded)
