"""`steelyard review agreement`: agreement among people, and with a judge."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.arguments import AnyFinishedRun, OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import painter, show_json, show_report


def command(
    run: AnyFinishedRun = None,
    rubric: Annotated[
        str | None, typer.Option(metavar="REF", help="Use only labels for this rubric.")
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Check to compare with people, if there are several."),
    ] = None,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="Output format.")
    ] = OutputFormat.text,
) -> None:
    """Measure how well people agree, per question. With a RUN, also how well its judge does."""
    from dataclasses import asdict

    from steelyard.errors import InvalidError
    from steelyard.reports.judges.agreement_text import agreement_lines
    from steelyard.usecases.review.agreement import agreement

    if check is not None and run is None:
        raise InvalidError("--check names a check of a run; name the run")
    found = agreement(opened().review_ports(), run=run, rubric=rubric, check=check)
    if output is OutputFormat.json:
        show_json(asdict(found))
        return
    show_report(agreement_lines(found, painter()))
