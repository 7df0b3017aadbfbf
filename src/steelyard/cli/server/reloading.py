"""`steelyard serve --reload`: a server that is restarted when files change."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from steelyard.project_file import PROJECT_FILE

if TYPE_CHECKING:
    from steelyard.project import Project

_EVERY_S = 0.5


def serve_reloading(project: Project) -> int:
    """Run the same command without `--reload` in a process of its own; its exit code.

    A server that cannot be started after a change is tried again after the next one.
    """
    command = [word for word in sys.argv[1:] if word != "--reload"]
    signal.signal(signal.SIGTERM, _stop)
    is_first = True
    while True:
        known = _states(project.root)
        server = subprocess.Popen([sys.executable, "-P", "-m", "steelyard", *command])  # noqa: S603 - ourselves
        try:
            changed = _changed(project.root, known, server, is_first=is_first)
        except KeyboardInterrupt as stopped:
            if isinstance(stopped, _Terminated):
                server.terminate()
            return server.wait()
        if not changed:
            return server.returncode
        typer.echo(f"steelyard: {changed.name} has changed; restarting", err=True)
        server.terminate()
        server.wait()
        is_first = False


class _Terminated(KeyboardInterrupt):
    """The process was asked to end."""


def _stop(*_: object) -> None:
    raise _Terminated


def _changed(
    root: Path,
    known: dict[Path, tuple[int, int]],
    server: subprocess.Popen[bytes],
    *,
    is_first: bool,
) -> Path | None:
    """The first file that changes; None when the server ends and no change could help."""
    while True:
        time.sleep(_EVERY_S)
        now = _states(root)
        for path in sorted(now.keys() | known.keys()):
            if now.get(path) != known.get(path):
                return path
        if server.poll() is not None and (is_first or server.returncode == 0):
            return None


def _states(root: Path) -> dict[Path, tuple[int, int]]:
    found: dict[Path, tuple[int, int]] = {}
    for path in (root / PROJECT_FILE, *_plugin_files()):
        with suppress(OSError):
            stat = path.stat()
            found[path] = (stat.st_mtime_ns, stat.st_size)
    return found


def _plugin_files() -> Iterator[Path]:
    from steelyard.store.installed import PLUGIN_GROUPS, offered

    points = (point for group in PLUGIN_GROUPS for point in offered(group))
    packages = {point.module.partition(".")[0] for point in points}
    for name in sorted(packages - {"steelyard"}):
        with suppress(ImportError, ValueError):
            spec = find_spec(name)
            if spec and spec.submodule_search_locations:
                for folder in spec.submodule_search_locations:
                    yield from Path(folder).rglob("*.py")
            elif spec and spec.origin:
                yield Path(spec.origin)
