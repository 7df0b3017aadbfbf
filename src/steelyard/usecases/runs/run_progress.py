"""How far a run that is executed has come, and when it may end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from steelyard.results.runs import RunDetail

_FEWEST_ROWS = 20
_SHORTEST_S = 5.0
"""A rate of fewer rows or of less time says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveProgress:
    """Rows of a run: a row is a record in one repeat."""

    total: int | None
    done: int
    failed: int
    retrying: int
    rate: float | None
    """Rows a second since the run began; None where that says nothing yet."""

    @property
    def left_s(self) -> float | None:
        """How long the rest takes at the same rate; None where that is not known."""
        if not self.rate or self.total is None:
            return None
        return max(0, self.total - self.done) / self.rate


def progress_of(detail: RunDetail, now: datetime, *, is_held: bool) -> LiveProgress:
    """The progress of a run; a rate only where all its rows were made without interruption.

    One that nobody holds makes no progress.
    """
    plan = detail.run.plan
    found = detail.progress
    began = [at for state, at in detail.states if state == "running"]
    is_copied = plan is not None and plan.options.derived is not None
    is_executed = bool(detail.states) and detail.states[-1][0] in {"running", "retrying"}
    is_whole = len(began) == 1 and not is_copied
    rate = None
    if is_held and is_executed and is_whole and found.rows >= _FEWEST_ROWS:
        seconds = (now - datetime.fromisoformat(began[0])).total_seconds()
        rate = found.rows / seconds if seconds >= _SHORTEST_S else None
    return LiveProgress(
        total=detail.total,
        done=found.rows,
        failed=found.failed_rows,
        retrying=found.retrying_rows,
        rate=rate,
    )
