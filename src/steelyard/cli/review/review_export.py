"""`steelyard review export`: export the labels of the project."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import show, show_json


class LabelFormat(StrEnum):
    """Forms of labels."""

    jsonl = "jsonl"
    csv = "csv"


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
    to: Annotated[
        LabelFormat, typer.Option(help="Rows of labels, or a table with a column per question.")
    ] = LabelFormat.jsonl,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    message_format: Annotated[
        OutputFormat, typer.Option("--format", help="Output format of the message.")
    ] = (OutputFormat.text),
) -> None:
    """Write labels that can be imported, then gold labels."""
    from itertools import chain

    from steelyard.cli.review.label_files import write_rows, write_table
    from steelyard.contracts.labels.reader import is_gold
    from steelyard.errors import InvalidError
    from steelyard.model.labels.annotation import Wanted
    from steelyard.usecases.review.export_labels import export_labels, narrowed
    from steelyard.usecases.review.label_csv import label_csv
    from steelyard.usecases.review.labels import KnownRubrics
    from steelyard.usecases.review.queues.gold_rows import gold_rows

    if output is None and message_format is OutputFormat.json:
        raise InvalidError("--format json says what was written to a file; name one with -o")
    wanted = Wanted(rubric=rubric, annotator=annotator)
    ports = opened().queue_ports()
    labels = export_labels(ports.review, wanted, run=run, with_history=history)
    rows = [*chain(labels, gold_rows(ports, narrowed(ports.review, wanted, run)))]
    if to is LabelFormat.csv:
        write_table(label_csv(rows, KnownRubrics(ports.review.references)), output, force=force)
    else:
        write_rows(rows, output, force=force)
    gold = sum(map(is_gold, rows))
    written = len(rows) - gold
    if message_format is OutputFormat.json:
        show_json({"file": str(output), "labels": written, "gold": gold})
    elif output is not None:
        beside = f" and {gold:,} gold label(s)" if gold else ""
        show(f"wrote {written:,} label(s){beside} to {output}")
