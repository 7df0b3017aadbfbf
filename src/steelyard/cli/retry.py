"""`steelyard retry`: the failed records of a run once more, as a new run."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.arguments import FinishedRunName
from steelyard.cli.run import Format, run_derived


def command(
    run: FinishedRunName,
    output: Annotated[Format, typer.Option("--format", help="How to print the result.")] = (
        Format.text
    ),
) -> None:
    """Run the records that failed or were cancelled again. The first run stays as it is."""
    from steelyard.results_wiring import run_folder
    from steelyard.usecases.derive import retry_options

    run_derived(retry_options(run_folder(run)), output)
