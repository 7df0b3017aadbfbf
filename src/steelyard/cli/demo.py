"""`steelyard demo`: the example project, copied to a folder and put to work."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.terminal import show


def command(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Where to copy the example project to."),
    ] = None,
    _no_serve: Annotated[
        bool,
        typer.Option("--no-serve", help="End after the report; this version always does."),
    ] = False,
) -> None:
    """Copy the example project and validate it, offline."""
    from steelyard.demo.story import copy_project

    project = copy_project(folder or Path("steelyard-demo"))
    datasets = project / "datasets"
    show(f"The example project is in {project}: a public library's help desk.\n")
    show("1. Validate. One file has a misspelt field; it is found before anything runs.\n")
    _show("validate", str(datasets))
    show("\n2. The same with --strict: now the misspelt field is an error, fit for CI.\n")
    _show("validate", "--strict", str(datasets / "opening-day.yaml"))
    show("\nOpen the files, change them, and run the commands again.")


def _show(*arguments: str) -> None:
    """Run a command of ours as a user would, and show it; an exit code is part of the story."""
    from steelyard.cli.main import app

    show(typer.style(f"$ steelyard {shlex.join(arguments)}", bold=True))
    code = app(list(arguments), standalone_mode=False)
    show(f"(exit code {code or 0})")
