"""The project of the demo with its runs, made by the command itself."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path


def make_demo(folder: Path) -> Path:
    """Make it in a folder; where it is."""
    command = [sys.executable, "-P", "-m", "steelyard", "demo", "library", "--no-serve"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "library"


@cache
def shared_demo() -> Path:
    """One for all tests of this process, which only read it."""
    folder = Path(tempfile.mkdtemp(prefix="steelyard-demo-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return make_demo(folder)
