"""`steelyard schema`: list, print or write the published JSON Schemas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.terminal import show

if TYPE_CHECKING:
    from steelyard.contracts.published_schemas import Schemas


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of a schema; without it, list all.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file, or all schemas to this folder."),
    ] = None,
) -> None:
    """Print or write the published JSON Schemas."""
    from steelyard.contracts.published_schemas import Schemas
    from steelyard.contracts.schemas import SUFFIX
    from steelyard.plugins import installed_contracts

    schemas = Schemas(installed_contracts())
    if name is None and output is None:
        _list(schemas)
    elif name is None and output is not None:
        for known in schemas.names:
            _write(output / f"{known}{SUFFIX}", schemas.as_file(known))
    elif name is not None:
        name = name.removesuffix(SUFFIX)
        data = schemas.as_file(name)
        if output is None:
            show(data.rstrip(b"\n"))
        else:
            _write(output / f"{name}{SUFFIX}" if output.is_dir() else output, data)


def _list(schemas: Schemas) -> None:
    for known in schemas.names:
        show(f"{known:<19}{schemas.published(known)['description']}")
    show(
        "\nsteelyard schema NAME prints one; -o FOLDER writes them all.\n"
        "To use one in an editor with YAML support, begin a file with:\n"
        "  # yaml-language-server: $schema=schemas/eval_cases.schema.json"
    )


def _write(path: Path, data: bytes) -> None:
    from steelyard.errors import InvalidError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise InvalidError(f"cannot write {path}: {error.strerror}") from None
    show(f"wrote {path}")
