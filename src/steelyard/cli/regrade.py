"""`steelyard regrade`: grade the stored traces of a run with another rubric."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.arguments import FinishedRunName
from steelyard.cli.local_run import run_derived
from steelyard.cli.opening import opened
from steelyard.cli.report_files import FormatOption, OutOption, ReportFormat


def command(
    run: FinishedRunName,
    rubric: Annotated[str, typer.Option(help="rubric/id@version, an id or a path.")],
    out: OutOption = None,
    output: FormatOption = ReportFormat.text,
) -> None:
    """Grade stored answers with another rubric; no target is called."""
    from steelyard.usecases.runs.derived_runs import regrade_options

    project = opened()
    folder = project.run_folder(run)
    options = regrade_options(folder, rubric)
    typer.echo("grading stored traces, in which secrets and personal data are redacted", err=True)
    run_derived(project, options, output, out)
