"""`steelyard retry`: repeat the failed records of a run, in a new run."""

from __future__ import annotations

from steelyard.cli.arguments import FinishedRunName
from steelyard.cli.local_run import run_derived
from steelyard.cli.opening import opened
from steelyard.cli.report_files import FormatOption, OutOption, ReportFormat


def command(
    run: FinishedRunName,
    out: OutOption = None,
    output: FormatOption = ReportFormat.text,
) -> None:
    """Repeat failed records in a new run and copy all other results."""
    from steelyard.usecases.runs.derived_runs import retry_options

    project = opened()
    run_derived(project, retry_options(project.run_folder(run)), output, out)
