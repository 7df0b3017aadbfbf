"""`steelyard review import`: import labels into the project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import painter, show_json, show_report


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Labels as JSONL.")],
    run: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Run of labels without a run_id."),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Replace earlier labels; the old ones are kept as history."
        ),
    ] = False,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="Output format.")
    ] = OutputFormat.text,
) -> None:
    """Store labels after validating them against rubrics and traces."""
    from steelyard.errors import UnreadableFileError
    from steelyard.reports.labels import imported_json, imported_lines
    from steelyard.usecases.review.import_labels import import_labels

    ports = opened().review_ports()
    try:
        stream = file.open("rb")
    except OSError as error:
        raise UnreadableFileError(f"cannot read {file}: {error.strerror}") from None
    with stream:
        found = import_labels(ports, stream, str(file), run=run, is_replacing=replace)
    if output is OutputFormat.json:
        show_json(imported_json(found))
    else:
        show_report(imported_lines(found, painter()))
    raise typer.Exit(1 if found.refused else 0)
