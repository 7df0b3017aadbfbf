"""Numbers that come from outside: one that cannot be true counts as unknown."""

from __future__ import annotations

import math

MAX_TOKENS = 1_000_000_000
MAX_LATENCY_MS = 30 * 24 * 3600 * 1000
MAX_COST_USD = 1_000_000


def token_count(value: object) -> int | None:
    """How many tokens a call took; JSON may write 12 as 12.0."""
    if type(value) is int:
        return value if 0 <= value <= MAX_TOKENS else None
    number = _bounded(value, MAX_TOKENS)
    return int(number) if number is not None and number == int(number) else None


def latency_ms(value: object) -> float | None:
    """Milliseconds that a call took: at most thirty days."""
    return _float(value, MAX_LATENCY_MS)


def cost_usd(value: object) -> float | None:
    """US dollars that a call took."""
    return _float(value, MAX_COST_USD)


def _float(value: object, most: int) -> float | None:
    """The same number in one form, whether JSON has it as 742 or as 742.0."""
    number = _bounded(value, most)
    return None if number is None else float(number)


def _bounded(value: object, most: int) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Infinity and what is no number lie in no range.
    return value if 0 <= value <= most and math.isfinite(value) else None
