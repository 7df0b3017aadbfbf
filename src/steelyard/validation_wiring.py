"""Joins the validation of judges with its adapters, as `wiring` does for the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard import wiring
from steelyard.review_wiring import review_ports

if TYPE_CHECKING:
    from steelyard.model.comparison import CorrectedDifference
    from steelyard.model.validation import JudgeValidation
    from steelyard.reports.run_text import RunView
    from steelyard.usecases.judges.validate_judge import ValidationPorts
    from steelyard.usecases.results.compare import Knowledge


def validation_ports(near: Path | None = None) -> ValidationPorts:
    """What comparing a judge with people needs."""
    from steelyard.store.validations import project_validations
    from steelyard.usecases.judges.validate_judge import ValidationPorts

    ports = wiring.run_ports(near)
    return ValidationPorts(
        run=ports,
        review=review_ports(near),
        validations=project_validations(ports.root),
        open=ports.workspace.open,
        replace_file=_replace_file,
    )


def judge_knowledge() -> Knowledge:
    """What the project knows by now about the judges of finished runs."""
    from steelyard.usecases.correction.corrected_pair import corrected_comparison
    from steelyard.usecases.results.compare import Knowledge

    now = wiring.system_clock().now()

    def correct(
        a: RunView, b: RunView, pairs: Sequence[tuple[int, int]]
    ) -> CorrectedDifference | None:
        return corrected_comparison((a, b), pairs, known_validations(), now)

    return Knowledge(today=as_of_today, correct=correct)


def as_of_today(view: RunView) -> RunView:
    """A finished run with what the project knows of its judge by now."""
    from steelyard.usecases.correction.correct_run import current_view

    return current_view(view, known_validations(), wiring.system_clock().now())


def known_validations() -> Sequence[JudgeValidation]:
    """All validations of the project of the current folder."""
    from steelyard.store.validations import project_validations

    return project_validations(wiring.project().root).all()


def _replace_file(path: Path, data: bytes) -> None:
    from steelyard.store.drafts import FileDraft

    draft = FileDraft(path, force=True)
    draft.write(data)
    draft.settle()
