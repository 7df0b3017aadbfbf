"""Remove posted datasets that no run needs any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from steelyard.model.upload import upload_of
from steelyard.results.stored_run import StoredRun


class UploadFolder(Protocol):
    """Where posted datasets are kept."""

    def sweep(self, needed: Collection[str]) -> int:
        """Remove all that are older than a week, and those that nobody needs; how many."""
        ...


class UnfinishedRuns(Protocol):
    """The runs that have not ended."""

    def unfinished(self) -> Iterable[StoredRun]:
        """All of them."""
        ...


def sweep_uploads(uploads: UploadFolder, runs: UnfinishedRuns) -> int:
    """Remove uploads after a week, those of runs that have ended, and what nobody finished."""
    datasets = [run.plan.options.dataset for run in runs.unfinished() if run.plan]
    return uploads.sweep({found for path in datasets if (found := upload_of(path))})
