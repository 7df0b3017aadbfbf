"""`steelyard init`: create a project."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.terminal import show


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Folder of the project.")
    ] = Path(),
) -> None:
    """Create a project: settings, a dataset, a rubric and a judge. Nothing is overwritten."""
    from steelyard.usecases.init import scaffold, unignored

    for path in scaffold(folder):
        show(f"wrote {path}")
    if lacking := unignored(folder):
        show(f"left {lacking} as it is; add the line .steelyard/ to it: results of runs are there")
    place = "" if folder == Path() else f"cd {shlex.quote(str(folder))} && "
    show(f"try: {place}steelyard run datasets/first.yaml --target echo --rubric rubric/first@1.0")
