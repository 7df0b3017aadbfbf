"""`steelyard review agreement`: how far people agree, and judges with them."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.arguments import AnyFinishedRun, OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import painter, show, show_json


def command(
    run: AnyFinishedRun = None,
    rubric: Annotated[
        str | None, typer.Option(metavar="REF", help="Only labels under this rubric.")
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The check to put beside people, where it is not clear."),
    ] = None,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="How to print it.")
    ] = OutputFormat.text,
) -> None:
    """Say per question how far people agree. With a RUN, also how far its judge does with them."""
    from dataclasses import asdict

    from steelyard.errors import InvalidError
    from steelyard.reports.agreement_text import agreement_lines
    from steelyard.usecases.review.agreement import agreement

    if check is not None and run is None:
        raise InvalidError("--check names a check of a run; name the run")
    found = agreement(opened().review_ports(), run=run, rubric=rubric, check=check)
    if output is OutputFormat.json:
        show_json(asdict(found))
        return
    for line in agreement_lines(found, painter()):
        show(line)
