"""`steelyard backup` and `steelyard restore`: one file with all data of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.opening import opened
from steelyard.cli.prune import size_text
from steelyard.cli.terminal import show


def backup_command(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write.")],
) -> None:
    """Back up the data of the project to one file; it may be in use."""
    from steelyard.usecases.operations.back_up import back_up

    with opened() as project:
        made = back_up(project.operation_ports(), out)
    show(f"{out}: {made.runs} run(s), {made.files} file(s), {size_text(made.size)}")
    show(f"sha256 {made.sha256}")


def restore_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Back-up to restore.")],
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Project root; default: this project.")
    ] = None,
) -> None:
    """Restore the data of a project from a back-up."""
    from steelyard.project_adapters import restore_ports
    from steelyard.usecases.operations.back_up import restore

    root = into or opened().root
    made = restore(restore_ports(file, root), file, root)
    where = f"{made.files} file(s), {size_text(made.size)}, of {made.created_at}"
    show(f"restored {where} into {root / '.steelyard'}")
