"""What validations of judges say of runs that are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from steelyard.model.statistics.comparison import CorrectedDifference
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.reports.run.run_text import RunView
from steelyard.usecases.correction.current_view import current_view
from steelyard.usecases.results.compare import Knowledge


def judge_knowledge(
    validations: Callable[[], Sequence[JudgeValidation]], now: datetime
) -> Knowledge:
    """Current validations of the judges of finished runs."""

    def correct(
        a: RunView, b: RunView, pairs: Sequence[tuple[int, int]]
    ) -> CorrectedDifference | None:
        known = validations()
        if not known or not a.manifest.judges or not b.manifest.judges:
            return None
        from steelyard.usecases.correction.corrected_pair import (  # noqa: PLC0415 - seldom needed
            corrected_comparison,
        )

        return corrected_comparison((a, b), pairs, known, now)

    return Knowledge(today=lambda view: current_view(view, validations(), now), correct=correct)
