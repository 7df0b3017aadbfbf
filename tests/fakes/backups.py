"""Back-ups that somebody has changed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.project import open_project
from steelyard.project_adapters import restore_ports
from steelyard.usecases.operations.back_up import back_up, restore


def restored(root: Path, script: str) -> Path:
    """The data folder restored from a back-up whose database was changed by somebody."""
    source = root / "project"
    source.mkdir()
    project = Project(source)
    project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    project.close()
    backup = root / "backup.tar"
    with open_project(source) as opened:
        opened.audit_log.list(1)
        with closing(sqlite3.connect(source / ".steelyard" / "steelyard.db")) as database:
            database.executescript(script)
        back_up(opened.operation_ports(), backup)
    restore(restore_ports(backup, root), backup, root / "new")
    return root / "new" / ".steelyard"
