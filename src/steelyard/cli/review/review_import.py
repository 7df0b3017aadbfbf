"""`steelyard review import`: import labels into the project."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.arguments import OutputFormat, column_names
from steelyard.cli.opening import opened
from steelyard.cli.terminal import painter, show_json, show_report

if TYPE_CHECKING:
    from steelyard.usecases.review.label_tables import TableOptions

_TABLES = (".csv", ".tsv")


class ExposureChoice(StrEnum):
    """What people had seen before they answered."""

    blind = "blind"
    after_commit = "after_commit"
    suggested = "suggested"


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Labels as JSONL, or a table as CSV or TSV.")
    ],
    run: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Run of labels without a run_id."),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=COLUMN", help="Column of a field or question of a table."
        ),
    ] = None,
    rubric: Annotated[
        str | None, typer.Option(metavar="REF", help="Rubric of rows of a table that name none.")
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Person of rows of a table that name none.")
    ] = None,
    exposure: Annotated[
        ExposureChoice | None,
        typer.Option(help="What people had seen before, if a table does not say it."),
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
    from steelyard.cli.review.label_files import read_design
    from steelyard.errors import InvalidError, UnreadableFileError
    from steelyard.reports.judges.labels import imported_json, imported_lines
    from steelyard.usecases.review.import_labels import LabelFile, import_labels
    from steelyard.usecases.review.label_tables import TableOptions
    from steelyard.usecases.review.queues.posted_labels import NamedQueues

    table: TableOptions | None = None
    if file.suffix.lower() in _TABLES:
        table = TableOptions(
            names=column_names(names or []),
            rubric=rubric,
            annotator=annotator,
            exposure=exposure.value if exposure else None,
            design=read_design(file),
        )
    elif names or rubric or annotator or exposure:
        raise InvalidError(
            f"--map, --rubric, --annotator and --exposure are about tables (CSV, TSV); {file} is "
            "read as JSONL, whose rows say all of it"
        )
    ports = opened().queue_ports()
    try:
        stream = file.open("rb")
    except OSError as error:
        raise UnreadableFileError(f"cannot read {file}: {error.strerror}") from None
    queues = NamedQueues(ports)
    with stream:
        found = import_labels(
            ports.review,
            LabelFile(stream, str(file), table),
            run=run,
            is_replacing=replace,
            refuse=lambda label, _: queues.wrong(label),
        )
    if output is OutputFormat.json:
        show_json(imported_json(found))
    else:
        show_report(imported_lines(found, painter()))
    raise typer.Exit(1 if found.refused else 0)
