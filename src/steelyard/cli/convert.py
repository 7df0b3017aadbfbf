"""`steelyard convert`: convert a dataset to another contract."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import OutputFormat, column_names
from steelyard.cli.opening import opened
from steelyard.cli.terminal import show, show_report


def command(  # noqa: PLR0913, PLR0917 - the options of the command
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="A dataset; with --from, any file or folder.")
    ],
    to: Annotated[
        str, typer.Option("--to", help="Contract to write; or responses, targets, labels.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; - is stdout.")],
    made_from: Annotated[
        str | None,
        typer.Option(
            "--from", help="Source format: a benchmark, another tool, csv, parquet or hf."
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FIELD=COLUMN", help="Column that fills a field."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            "--split", help="Only this split, eval of a registry, dataset, or candidate."
        ),
    ] = None,
    flatten: Annotated[
        bool, typer.Option("--flatten", help="Write a conversation as one prompt.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    report_format: Annotated[
        OutputFormat, typer.Option("--format", help="Output format of the report.")
    ] = OutputFormat.text,
) -> None:
    """Convert a dataset, and report what could not be converted."""
    from steelyard.errors import InvalidError
    from steelyard.reports.conversion import conversion_json, conversion_text
    from steelyard.reports.findings import plain
    from steelyard.usecases.convert.convert import ConvertOptions, convert

    to_stdout = str(output) == "-"
    if to_stdout and report_format is OutputFormat.json:
        raise InvalidError("--format json prints the report on stdout; name a file with -o")
    options = ConvertOptions(
        source=source,
        to=to,
        output=None if to_stdout else output,
        made_from=made_from,
        names=column_names(names or []),
        split=split,
        flatten=flatten,
        force=force,
    )
    made = convert(opened().convert_ports(force=force, show=_to_stdout), options)
    if report_format is OutputFormat.json:
        show(conversion_json(made).encode("utf-8", "backslashreplace"))
    else:
        show_report(conversion_text(made, plain), is_error=True)
    if not made.emitted:
        raise InvalidError("nothing was written: no case could be converted")
    raise typer.Exit(0 if made.is_whole else 1)


def _to_stdout(data: bytes) -> None:
    show(data, is_line=False)
