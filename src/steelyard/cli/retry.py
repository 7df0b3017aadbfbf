"""`steelyard retry`: repeat the failed records of a run, in a new run."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.arguments import FinishedRunName
from steelyard.cli.opening import opened
from steelyard.cli.run import run_derived
from steelyard.cli.run_output import RunFormat


def command(
    run: FinishedRunName,
    output: Annotated[RunFormat, typer.Option("--format", help="Output format.")] = (
        RunFormat.text
    ),
) -> None:
    """Repeat failed records in a new run and copy all other results."""
    from steelyard.usecases.runs.derived_runs import retry_options

    project = opened()
    run_derived(project, retry_options(project.run_folder(run)), output)
