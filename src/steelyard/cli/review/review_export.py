"""`steelyard review export`: export the labels of the project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import show, show_json


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    rubric: Annotated[
        str | None, typer.Option(metavar="REF", help="Export only labels for this rubric.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="RUN", help="Export only labels of this run.")
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Export only labels by this person.")
    ] = None,
    history: Annotated[
        bool,
        typer.Option("--history", help="Also export replaced labels, with revision and time."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    message_format: Annotated[
        OutputFormat, typer.Option("--format", help="Output format of the message.")
    ] = (OutputFormat.text),
) -> None:
    """Write labels as JSONL that can be imported."""
    from steelyard.cli.review.label_files import write_rows
    from steelyard.errors import InvalidError
    from steelyard.model.labels.annotation import Wanted
    from steelyard.usecases.review.export_labels import export_labels

    if output is None and message_format is OutputFormat.json:
        raise InvalidError("--format json says what was written to a file; name one with -o")
    wanted = Wanted(rubric=rubric, annotator=annotator)
    rows = export_labels(opened().review_ports(), wanted, run=run, with_history=history)
    written = write_rows(rows, output, force=force)
    if message_format is OutputFormat.json:
        show_json({"file": str(output), "labels": written})
    elif output is not None:
        show(f"wrote {written:,} label(s) to {output}")
