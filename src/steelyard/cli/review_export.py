"""`steelyard review export`: the labels of the project as rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import show, show_json


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    rubric: Annotated[
        str | None, typer.Option(metavar="REF", help="Only labels under this rubric.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="RUN", help="Only labels of responses of this run.")
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only labels of this person.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Also what was replaced, with when it was kept.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; without it, stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that exists.")] = False,
    told: Annotated[
        OutputFormat, typer.Option("--format", help="How to say what was written.")
    ] = (OutputFormat.text),
) -> None:
    """Write labels, one a line, as they can be imported."""
    from steelyard.cli.label_files import write_rows
    from steelyard.errors import InvalidError
    from steelyard.model.labels.annotation import Wanted
    from steelyard.usecases.review.export_labels import export_labels

    if output is None and told is OutputFormat.json:
        raise InvalidError("--format json says what was written to a file; name one with -o")
    wanted = Wanted(rubric=rubric, annotator=annotator)
    rows = export_labels(opened().review_ports(), wanted, run=run, with_history=history)
    written = write_rows(rows, output, force=force)
    if told is OutputFormat.json:
        show_json({"file": str(output), "labels": written})
    elif output is not None:
        show(f"wrote {written:,} label(s) to {output}")
