"""How many examples a property test tries."""

from __future__ import annotations

from hypothesis import settings


def examples(number: int) -> int:
    """So many in `trials`, fewer in `test`, more in `soak`."""
    return max(1, number * settings().max_examples // 100)
