"""`steelyard schema`: list, print or write the published JSON Schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.terminal import show


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which schema; without it, a list.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file, or all schemas to this folder."),
    ] = None,
) -> None:
    """Print or write the published JSON Schemas."""
    from steelyard.contracts.schemas import PUBLISHED, SUFFIX, schema_bytes

    if name is None and output is None:
        _list()
    elif name is None and output is not None:
        for known in PUBLISHED:
            _write(output / f"{known}{SUFFIX}", schema_bytes(known))
    elif name is not None:
        name = name.removesuffix(SUFFIX)
        data = schema_bytes(name)
        if output is None:
            show(data.rstrip(b"\n"))
        else:
            _write(output / f"{name}{SUFFIX}" if output.is_dir() else output, data)


def _list() -> None:
    from steelyard.contracts.schemas import PUBLISHED, published_schema

    for known in PUBLISHED:
        show(f"{known:<19}{published_schema(known)['description']}")
    show(
        "\nsteelyard schema NAME prints one; -o FOLDER writes them all.\n"
        "An editor with YAML support uses one by this first line of a file:\n"
        "  # yaml-language-server: $schema=schemas/eval_cases.schema.json"
    )


def _write(path: Path, data: bytes) -> None:
    from steelyard.errors import UsageError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    show(f"wrote {path}")
