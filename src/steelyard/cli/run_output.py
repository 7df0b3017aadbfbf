"""How `run` prints what runs have left behind."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli.terminal import show

if TYPE_CHECKING:
    from steelyard.reports.run.run_text import RunView
    from steelyard.usecases.runs.execute import FinishedRun


class RunFormat(StrEnum):
    """Output formats of the result."""

    text = "text"
    json = "json"
    junit = "junit"
    markdown = "markdown"


def print_views(views: Sequence[RunView], output: RunFormat) -> None:
    """Print runs that were read in a format that covers all of them."""
    from steelyard.reports.run.run_junit import run_junit
    from steelyard.reports.run.run_text import run_markdown
    from steelyard.usecases.results.read_run import read_predictions

    if output is RunFormat.markdown:
        show("\n\n".join(run_markdown(view) for view in views).encode("utf-8"))
    elif output is RunFormat.junit:
        pairs = [(view, read_predictions(Path(view.folder))) for view in views]
        show(run_junit(pairs).encode("utf-8"))


def finished_row(finished: FinishedRun) -> dict[str, Any]:
    """The JSON object of a finished run."""
    return {
        "run_id": finished.run_id,
        "status": finished.status,
        "artifacts": finished.folder,
        "metrics": finished.metrics.json() if finished.metrics else {},
    }
