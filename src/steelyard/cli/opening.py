"""Opens the project of a command: that of a file, or of the current folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.ports import Warn
    from steelyard.project import Project
    from steelyard.usecases.registry.references import References


def opened(near: Path | None = None, warn: Warn | None = None) -> Project:
    """The project of a file, or of the current folder; its warnings go to stderr, each once."""
    from steelyard.project import open_project

    return open_project(near=near, base=Path(), warn=warn or _once(print_warning))


def _once(warn: Warn) -> Warn:
    """Warn of the same once, though every run of a group does."""
    said: set[str] = set()

    def warn_once(message: str) -> None:
        if message not in said:
            said.add(message)
            warn(message)

    return warn_once


def references_of(current: Path) -> Callable[[Path], References]:
    """The rubrics and judges that a file may refer to; each project is read once."""
    from steelyard.project import open_project

    known: dict[Path, References] = {}

    def find(path: Path) -> References:
        project = open_project(near=path, base=current)
        if project.root not in known:
            known[project.root] = project.references()
        return known[project.root]

    return find


def print_warning(message: str) -> None:
    """Show a warning as one line."""
    from steelyard.reports.findings import printable

    typer.echo(f"steelyard: warning: {printable(message)}", err=True)
