"""`steelyard demo`: the example project, copied to a folder and put to work."""

from __future__ import annotations

import os
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
    """Copy the example project and put it through its paces, offline."""
    from steelyard.demo.story import copy_project, tampered_copy
    from steelyard.wiring import run_folder

    project = copy_project(folder or Path("steelyard-demo"))
    show(f"The example project is in {project}: a public library's help desk, and two assistants")
    show("whose answers were recorded, A (cautious) and B (chatty). Nothing here needs a network.")
    os.chdir(project)
    show(f"\n$ cd {project}")
    _chapter("1. Validate: one file has a misspelt field; it is found before anything runs.")
    _show("validate", "datasets")
    _show("validate", "--strict", "datasets/opening-day.yaml")
    _chapter("2. Run A and B: one call is retried after a 503, one times out for good.")
    _show("run", "datasets/helpdesk.jsonl", "--target", "assistant_a", "--target", "assistant_b")
    _chapter("3. Look: which records failed, and why.")
    _show("show", "latest")
    _show("show", "latest", "fees-blocked-card")
    _chapter("4. Seal: the artifacts hold; one changed byte is found.")
    _show("verify", "latest")
    copy = tampered_copy(run_folder("latest"), Path("tampered"))
    show(f"\nA copy of the run in {copy}, with one byte changed:")
    _show("verify", str(copy))
    _chapter("5. Share: one file that needs no server and no network.")
    _show("report", "latest", "-o", "report.html")
    page = project / "report.html"
    show(f"\nOpen {page} in a browser; change the files and run the commands again.")


def _chapter(text: str) -> None:
    show("\n" + typer.style(text, bold=True, underline=True))


def _show(*arguments: str) -> None:
    """Run a command of ours as a user would, and show it; an exit code is part of the story."""
    from steelyard.cli.main import app

    show("\n" + typer.style(f"$ steelyard {shlex.join(arguments)}", bold=True))
    code = app(list(arguments), standalone_mode=False)
    show(f"(exit code {code or 0})")
