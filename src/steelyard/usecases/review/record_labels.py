"""What people say of one response."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.label import Label
from steelyard.usecases.results.read_run import is_run_folder
from steelyard.usecases.review.labels import KnownRubrics, stored_labels
from steelyard.usecases.review.ports import ReviewPorts
from steelyard.usecases.review.reviewed_runs import response_runs


def record_labels(
    ports: ReviewPorts, rubrics: KnownRubrics, folder: Path, names: tuple[str, ...], repeat: int
) -> tuple[Label, ...]:
    """The labels of one response by any of the names of its record, without outdated ones.

    Labels of a run that this one grades again are about the same response.
    """
    runs = response_runs(folder) if is_run_folder(folder) else (folder.name,)
    wanted = Wanted(runs=runs, records=names)
    found = stored_labels(ports.annotations, wanted, rubrics)
    return tuple(
        label
        for label in found
        if label.repeat == repeat and not rubrics.is_under_other_content(label)
    )
