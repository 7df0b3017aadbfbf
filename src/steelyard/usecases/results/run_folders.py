"""Finished runs by their folders, if the store does not know them or cannot be used."""

from __future__ import annotations

import re
from pathlib import Path

from steelyard.usecases.results.read_run import is_run_folder

_LATEST = re.compile(r"latest(?:~(\d{1,9}))?")


def sealed_runs(runs: Path) -> list[Path]:
    """The folders of finished runs, newest first: ids begin with the time."""
    return sorted((path for path in runs.glob("run_*") if is_run_folder(path)), reverse=True)


def folder_by_name(runs: Path, name: str) -> Path | None:
    """The folder of a finished run, by id, unique prefix, `latest` or `latest~N`."""
    sealed = sealed_runs(runs)
    back = _LATEST.fullmatch(name)
    if back:
        return next(iter(sealed[int(back[1] or 0) :]), None)
    fitting = [path for path in sealed if name and path.name.startswith(name)]
    return fitting[0] if len(fitting) == 1 else None
