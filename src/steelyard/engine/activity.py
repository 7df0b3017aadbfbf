"""What a run is doing at a moment: calls under way, and what waits for which reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

from msgspec import field

from steelyard.model.frozen_struct import FrozenStruct


class CallActivity(FrozenStruct, frozen=True, kw_only=True):
    """The calls of a run at a moment."""

    in_flight: int = 0
    """Calls to targets and judges that are under way."""
    oldest_s: float | None = None
    """How long the longest call to a target has taken so far."""
    retrying: Counter[str] = field(default_factory=Counter[str])
    """Records that wait for another attempt, by the error of the last one."""
    next_retry_s: float | None = None
    away: tuple[str, ...] = ()
    """Targets that are away and are probed."""
    held_s: float = 0.0
    """How long an endpoint has asked for no further call."""


Look: TypeAlias = Callable[[], CallActivity]
"""Looks at a run from within its event loop."""
