"""The corrected rates of listed runs with current validations, computed once for each run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from msgspec import UnsetType

from steelyard.errors import SteelyardError
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.results.metrics import Metrics
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.correction.current_view import current_view
from steelyard.usecases.correction.validations import Validations
from steelyard.usecases.results.read_run import read_run

_MOST_ROWS = 2_000
"""Larger runs are listed as they were sealed: to correct them again takes too long for a list."""
_MOST_KEPT = 500


class CurrentRates:
    """Corrected rates by run; a judge may have been validated after the run."""

    def __init__(
        self,
        run_folder: Callable[[str], Path],
        validations: Callable[[], Validations],
        now: Callable[[], datetime],
    ) -> None:
        self._run_folder = run_folder
        self._validations = validations
        self._now = now
        self._kept: dict[tuple[str, int, str], CorrectedRate | None] = {}

    def of(self, run: StoredRun, metrics: Metrics) -> CorrectedRate | None:
        """What people would find; None where no judge decides the results."""
        if not _is_judged(run) or not 0 < metrics.rows <= _MOST_ROWS:
            return metrics.corrected_pass_rate
        validations, now = self._validations().all(), self._now()
        key = (run.run_id, len(validations), f"{now:%Y-%m-%d}")
        if key not in self._kept:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            try:
                view = current_view(read_run(self._run_folder(run.run_id)), validations, now)
            except (SteelyardError, OSError):
                # The page of the run says what is wrong with its files.
                return metrics.corrected_pass_rate
            self._kept[key] = view.metrics.corrected_pass_rate
        return self._kept[key]


def _is_judged(run: StoredRun) -> bool:
    judges = run.plan.judges if run.plan else None
    return judges is not None and not isinstance(judges, UnsetType) and bool(judges.templates)
