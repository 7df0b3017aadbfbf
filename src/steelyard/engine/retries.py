"""When a failed call is tried again: contract 2's policy."""

from __future__ import annotations

import random
from dataclasses import dataclass

from steelyard.errors import TargetError
from steelyard.model.run import TRANSIENT

MAX_RETRY_AFTER_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """At most so many attempts, with waits from a list, each varied by the jitter."""

    max_attempts: int = 3
    backoff_s: tuple[float, ...] = (2.0, 6.0, 14.0)
    jitter: float = 0.2

    def wait(self, error: TargetError, attempt: int, chance: random.Random) -> float | None:
        """Seconds until the next attempt, or None when there is none.

        Only transient errors are tried again. A server's `Retry-After` wins when it is longer,
        and ends the record when it is absurd.
        """
        if error.code not in TRANSIENT or attempt >= self.max_attempts:
            return None
        demanded = error.retry_after_s or 0.0
        if demanded > MAX_RETRY_AFTER_S:
            return None
        planned = self.backoff_s[:attempt][-1] if self.backoff_s else 0.0
        varied = planned * (1 + self.jitter * chance.uniform(-1, 1))
        return max(varied, demanded)
