"""The demo's project on disk."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from steelyard.errors import UsageError


def copy_project(folder: Path) -> Path:
    """Copy the bundled project; a folder that already holds something else is left alone."""
    marker = folder / "steelyard.yaml"
    if folder.exists() and any(folder.iterdir()) and not marker.is_file():
        raise UsageError(f"{folder} is not empty; name another folder for the demo")
    with as_file(files("steelyard.demo").joinpath("project")) as bundle:
        shutil.copytree(bundle, folder, dirs_exist_ok=True)
    return folder
