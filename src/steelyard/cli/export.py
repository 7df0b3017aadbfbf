"""`steelyard export`: export a run's predictions for other tools."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import FinishedRunName, OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import show, show_json


class Form(StrEnum):
    """Export formats."""

    jsonl = "jsonl"
    csv = "csv"


def command(
    run: FinishedRunName,
    to: Annotated[Form, typer.Option("--to", help="Export format.")] = Form.jsonl,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default stdout.")
    ] = None,
    message_format: Annotated[
        OutputFormat, typer.Option("--format", help="Output format of the message.")
    ] = (OutputFormat.text),
) -> None:
    """Export one row per record and repeat."""
    from steelyard.errors import InvalidError
    from steelyard.usecases.results.export import check_names, export_csv, export_jsonl
    from steelyard.usecases.results.read_run import read_predictions, read_run

    folder = opened().run_folder(run)
    rows = read_predictions(folder)
    is_csv = to is Form.csv
    lines = export_csv(rows, check_names(folder)) if is_csv else export_jsonl(rows)
    if output is None:
        if message_format is OutputFormat.json:
            raise InvalidError("--format json says what was written to a file; name one with -o")
        for line in lines:
            show(line.removesuffix("\n").encode("utf-8", "backslashreplace"))
        return
    try:
        _write(output, lines)
    except OSError as error:
        raise InvalidError(f"cannot write {output}: {error.strerror}") from None
    if message_format is OutputFormat.json:
        show_json({"run_id": read_run(folder).run_id, "export": str(output), "form": to.value})
    else:
        typer.echo(f"wrote {output}", err=True)


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("wb") as stream:
        for line in lines:
            stream.write(line.encode("utf-8", "backslashreplace"))
