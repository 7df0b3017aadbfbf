"""`steelyard init`: a project to start from."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.terminal import show


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Where the project goes.")
    ] = Path(),
) -> None:
    """Scaffold a project: settings, a dataset, a rubric; nothing is overwritten."""
    from steelyard.usecases.init import scaffold

    for path in scaffold(folder):
        show(f"wrote {path}")
    place = "" if folder == Path() else f"cd {shlex.quote(str(folder))} && "
    show(f"try: {place}steelyard run datasets/first.yaml --target echo --rubric rubric/first@1.0")
