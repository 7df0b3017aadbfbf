"""`steelyard export`: export a run for other tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    table = "table"
    parquet = "parquet"
    inspect = "inspect"
    every_eval = "every-eval"
    mlflow = "mlflow"


_BINARY = (Form.parquet,)
_FOLDERS = (Form.every_eval, Form.mlflow)


def command(
    run: FinishedRunName,
    to: Annotated[Form, typer.Option("--to", help="Export format.")] = Form.jsonl,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, a folder for every-eval and mlflow; default stdout.",
        ),
    ] = None,
    message_format: Annotated[
        OutputFormat, typer.Option("--format", help="Output format of the message.")
    ] = (OutputFormat.text),
) -> None:
    """Export a run, one row per record and repeat."""
    from steelyard.errors import InvalidError
    from steelyard.usecases.results.read_run import read_run

    folder = opened().run_folder(run)
    if output is None:
        _print(folder, to, message_format)
        return
    try:
        _write(folder, to, output)
    except OSError as error:
        raise InvalidError(f"cannot write {output}: {error.strerror}") from None
    if message_format is OutputFormat.json:
        show_json({"run_id": read_run(folder).run_id, "export": str(output), "form": to.value})
    else:
        typer.echo(f"wrote {output}", err=True)


def _print(folder: Path, to: Form, message_format: OutputFormat) -> None:
    from steelyard.errors import InvalidError

    if message_format is OutputFormat.json:
        raise InvalidError("--format json says what was written to a file; name one with -o")
    if to in _BINARY or to in _FOLDERS:
        kind = "folder" if to in _FOLDERS else "file"
        raise InvalidError(f"--to {to.value} writes a {kind}; name it with -o")
    for piece in _pieces(folder, to):
        show(piece.removesuffix("\n").encode("utf-8", "backslashreplace"))


def _write(folder: Path, to: Form, output: Path) -> None:
    from steelyard.usecases.results.exports.parquet import write_parquet
    from steelyard.usecases.results.exports.rows import check_names
    from steelyard.usecases.results.read_run import read_predictions

    if to in _FOLDERS:
        _write_folder(folder, to, output)
    elif to is Form.parquet:
        write_parquet(read_predictions(folder), check_names(folder), output)
    else:
        _write_file(output, _pieces(folder, to))


def _write_folder(folder: Path, to: Form, output: Path) -> None:
    from steelyard.errors import InvalidError
    from steelyard.usecases.results.exports.every_eval import export_every_eval
    from steelyard.usecases.results.exports.mlflow_store import export_mlflow

    if output.exists() and not output.is_dir():
        raise InvalidError(f"--to {to.value} writes a folder, and {output} is a file")
    is_mlflow = to is Form.mlflow
    for file in export_mlflow(folder, output) if is_mlflow else export_every_eval(folder):
        path = output / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_file(path, file.pieces)


def _pieces(folder: Path, to: Form) -> Iterator[str]:
    from steelyard.usecases.results.exports.inspect_log import export_inspect
    from steelyard.usecases.results.exports.rows import check_names, export_csv, export_jsonl
    from steelyard.usecases.results.exports.table import export_table
    from steelyard.usecases.results.read_run import read_predictions

    if to is Form.inspect:
        return export_inspect(folder)
    rows = read_predictions(folder)
    if to is Form.jsonl:
        return export_jsonl(rows)
    checks = check_names(folder)
    return export_csv(rows, checks) if to is Form.csv else export_table(rows, checks)


def _write_file(path: Path, pieces: Iterable[str]) -> None:
    with path.open("wb") as stream:
        for piece in pieces:
            stream.write(piece.encode("utf-8", "backslashreplace"))
