"""Read the events of a run, from any sequence number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from steelyard.errors import InvalidError
from steelyard.results.records import MAX_COUNT
from steelyard.results.runs import RunEvent
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.cursors import require_page


class RunEvents(Protocol):
    """The events of the runs of a project."""

    def find(self, name: str) -> StoredRun:
        """The run with an id, a unique prefix of one, `latest` or `latest~N`."""
        ...

    def events(self, run_id: str, after: int, limit: int) -> Sequence[RunEvent]:
        """The events of a run after a sequence number, in order."""
        ...


def run_events(
    runs: RunEvents, name: str, after: int = 0, *, limit: int = 100
) -> Sequence[RunEvent]:
    """The next events of a run: states, progress at most once a second, and warnings."""
    require_page(limit)
    if not 0 <= after <= MAX_COUNT:
        raise InvalidError(f"after must be a whole number from 0 to {MAX_COUNT}, not {after}")
    return runs.events(runs.find(name).run_id, after, limit)
