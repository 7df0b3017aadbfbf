"""`steelyard schema`: list, print or write the published JSON Schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Which schema; without it, a list.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file, or all schemas to this folder."),
    ] = None,
) -> None:
    """Print or write the JSON Schemas, for editors and other validators."""
    from steelyard.contracts.schemas import SCHEMAS, load_schema, schema_bytes

    if name is None and output is None:
        for known in SCHEMAS:
            typer.echo(f"{known:<18}{load_schema(known)['description']}")
        typer.echo(
            "\nsteelyard schema NAME prints one; -o FOLDER writes them all.\n"
            "An editor with YAML or JSON support uses one by this first line:\n"
            "  # yaml-language-server: $schema=schemas/eval_cases.schema.json"
        )
    elif name is None and output is not None:
        for known in SCHEMAS:
            _write(output / f"{known}.schema.json", schema_bytes(known))
    elif name is not None:
        data = schema_bytes(name.removesuffix(".schema.json"))
        if output is None:
            typer.echo(data.decode("utf-8"), nl=False)
        else:
            is_folder = output.is_dir()
            _write(output / f"{name}.schema.json" if is_folder else output, data)


def _write(path: Path, data: bytes) -> None:
    from steelyard.errors import UsageError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    typer.echo(f"wrote {path}")
