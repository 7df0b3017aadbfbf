"""`steelyard retry`: a run over all records of another, of which only the failed are asked."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.arguments import FinishedRunName
from steelyard.cli.opening import opened
from steelyard.cli.run import RunFormat, run_derived


def command(
    run: FinishedRunName,
    output: Annotated[RunFormat, typer.Option("--format", help="How to print the result.")] = (
        RunFormat.text
    ),
) -> None:
    """Ask failed records again, in a run that keeps the rest."""
    from steelyard.usecases.runs.derived_runs import retry_options

    project = opened()
    run_derived(project, retry_options(project.run_folder(run)), output)
