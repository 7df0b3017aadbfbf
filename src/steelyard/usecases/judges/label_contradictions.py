"""Contradictions between a run and the stated design of its labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from steelyard.model.statistics.validation import JudgeValidation, LabelledItem
from steelyard.stats.correction import NotCorrectableError, require_allowed
from steelyard.usecases.correction.check_rows import (
    CheckRows,
    is_weighted,
    own_items,
    read_check_rows,
)
from steelyard.usecases.correction.corrected_estimates import (
    rates_of_validation,
    require_plausible,
    require_random,
)
from steelyard.usecases.correction.validation_rules import run_difference
from steelyard.usecases.judges.judge_against_people import ComparedLabels


def contradictions(
    found: ComparedLabels, folders: Sequence[Path], *, is_asked_now: bool
) -> Iterator[str]:
    """Why the labels contradict their stated design, run by run.

    A run in which the judge `is_asked_now` has only the labelled responses.
    """
    validation = found.validation
    if found.refusals:
        return
    for folder in folders:
        run = read_check_rows(folder)
        try:
            items = own_items(validation, run.population)
            check = run.checks[found.check]
            if is_weighted(validation) and not is_asked_now:
                labelled = check.labelled(items, is_weighted=True)
                require_plausible(labelled, is_whole=validation.split == "all")
            _require_consistent(check, validation, items)
        except NotCorrectableError as why:
            yield str(why) if len(folders) == 1 else f"{folder.name}: {why}"


def _require_consistent(
    check: CheckRows, validation: JudgeValidation, items: Sequence[LabelledItem]
) -> None:
    if validation.design == "random":
        require_random(check.labelled(items, is_weighted=False))
    if validation.design in {"random", "by_label"} or is_weighted(validation):
        # If the runs differ, each is compared with its own labels.
        alike = (
            replace(validation, items=tuple(items)) if run_difference(validation) else validation
        )
        require_allowed(rates_of_validation(alike), check.passes)
