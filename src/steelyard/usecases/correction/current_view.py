"""A finished run as its judges are validated now, which may be after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from msgspec import structs

from steelyard.model.statistics.corrected_rate import OWN_LABELS
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.reports.run.run_text import RunView
from steelyard.results.predictions import PREDICTIONS
from steelyard.usecases.results.pruned_files import pruned_on


def current_view(view: RunView, validations: Sequence[JudgeValidation], now: datetime) -> RunView:
    """A finished run with current validations: its judge may have been validated after it.

    Artifacts are never changed. A rate corrected by labels of the run's own responses stays,
    unless the judge was refused since; they replace a rate by labels of another run. Answers
    that a judge must fail are no sample of anything that labels could correct.
    """
    if view.is_of_canaries:
        return view
    before = view.metrics.corrected_pass_rate
    basis = before.basis if before else None
    is_settled = basis == OWN_LABELS and not any(one.refusals for one in validations)
    if is_settled or not view.manifest.judges:
        return view
    if not validations or pruned_on(Path(view.folder), PREDICTIONS):
        return view
    from steelyard.usecases.correction.correct_run import later_rate  # noqa: PLC0415 - loads numpy

    later = later_rate(view, validations, now)
    if later is None:
        return view
    return replace(view, metrics=structs.replace(view.metrics, corrected_pass_rate=later))
