"""What to know of a run that has no final results, or none any more."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.api.serving import ServedProject
from steelyard.reports.run.run_summary import Notice
from steelyard.results.stored_run import StoredRun
from steelyard.web.runs.run_results import RunResults

PRUNED = Notice(
    "warn",
    "The results of this run were pruned after their retention; only its entry is left. "
    "Run the dataset again to have new ones.",
)
SPOILED = Notice(
    "bad",
    "Files of this run are not what was sealed when it ended, so its results are not shown. "
    "Restore the files from a backup, or run again; `steelyard verify` says more.",
)


def record_notices(results: RunResults) -> Iterator[Notice]:
    """What to know of the records of a finished run."""
    if results.pruned_on:
        text = f"The records were pruned on {results.pruned_on}; the numbers are kept."
        yield Notice("warn", text)


def state_notices(served: ServedProject, run: StoredRun) -> Iterator[Notice]:
    """Why a run has no final results, and what can be done."""
    standing = served.project.standing(run)
    if run.status == "failed":
        yield Notice("bad", f"The run failed before it was finished. {_said(served, run)}")
    elif standing.why_not_resumable:
        yield Notice(
            "bad", f"The run was stopped and cannot be resumed: {standing.why_not_resumable}."
        )
    elif standing.is_waiting:
        yield _waiting(served)
    elif standing.is_resumable:
        yield Notice(
            "warn",
            "The process that executed this run is gone. Its finished records are kept. Resume it "
            f"here, or with: steelyard resume {run.run_id}",
        )


def _waiting(served: ServedProject) -> Notice:
    activity = served.project.condition.activity()
    if served.settings.workers == 0 and not activity.executing:
        return Notice(
            "warn",
            "The run waits for a worker. This server starts none, and nobody executes a run at "
            "the moment. Start a worker with: steelyard worker",
        )
    return Notice("", "The run waits for a free worker.")


def _said(served: ServedProject, run: StoredRun) -> str:
    """The last warning of a run."""
    said = served.project.store.warnings(run.run_id)
    return said[-1] if said else f"`steelyard show {run.run_id}` has what is known of it."
