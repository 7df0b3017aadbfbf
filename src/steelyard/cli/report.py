"""`steelyard report`: write a run as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import FinishedRunName, OutputFormat
from steelyard.cli.server.server_runs import ServerOption, readable_runs
from steelyard.cli.terminal import show, show_json


def command(
    run: FinishedRunName,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path(
        "report.html"
    ),
    message_format: Annotated[
        OutputFormat, typer.Option("--format", help="Output format of the message.")
    ] = (OutputFormat.text),
    server: ServerOption = None,
) -> None:
    """Write a self-contained HTML report of a run."""
    from steelyard.errors import InvalidError
    from steelyard.reports.html.run_html import run_html
    from steelyard.results.predictions import PREDICTIONS
    from steelyard.usecases.correction.correct_run import current_view
    from steelyard.usecases.results.pruned_files import pruned_on
    from steelyard.usecases.results.read_run import read_predictions, read_run

    with readable_runs(server, [run]) as (project, (name,)):
        folder = project.run_folder(name)
        view = read_run(folder)
        day = pruned_on(folder, PREDICTIONS)
        if day:
            typer.echo(
                f"the records were pruned on {day}; the report has only the numbers", err=True
            )
        page = run_html(
            current_view(view, project.validations.all(), project.clock.now()),
            () if day else read_predictions(folder),
            pruned=day,
        )
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidError(f"cannot write {output}: {error.strerror}") from None
    if message_format is OutputFormat.json:
        show_json({"run_id": view.run_id, "report": str(output)})
    else:
        show(f"wrote {output}")
