"""How much work a project has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """How much work there is."""

    runs: dict[str, int]
    """Runs by status."""
    queued: int
    """Runs that wait for a worker."""
    oldest_queued_at: str | None
    rows_done: int
    """Results of runs that have not ended."""
    executing: int
    """Processes that hold the lease of a run."""
