"""The real command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.warm_command import run_warm


@pytest.fixture(scope="session")
def steelyard() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `steelyard` with some words in a folder, in a process of its own.

    Python is started anew only for variables that it reads at its own start.
    """

    def run(
        *words: str | Path, cwd: Path, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **(env or {})}
        if any(name.startswith("PYTHON") for name in env or ()):
            return subprocess.run(
                [sys.executable, "-m", "steelyard", *map(str, words)],
                cwd=cwd,
                env=environment,
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
        done = run_warm(cwd, *words, environment=environment)
        return subprocess.CompletedProcess(words, *done)

    return run
