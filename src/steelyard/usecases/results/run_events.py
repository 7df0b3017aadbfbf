"""Read the events of a run, from any sequence number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from steelyard.results.runs import RunEvent


class RunEvents(Protocol):
    """The events of the runs of a project."""

    def events(self, run_id: str, after: int, limit: int) -> Sequence[RunEvent]:
        """The events of a run after a sequence number, in order."""
        ...


def run_events(
    runs: RunEvents, run_id: str, after: int = 0, *, limit: int = 100
) -> Sequence[RunEvent]:
    """The next events of a run: states, progress at most once a second, and warnings."""
    return runs.events(run_id, after, limit)
