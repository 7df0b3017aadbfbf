"""The real command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.warm_command import run_warm


@pytest.fixture(scope="session")
def steelyard() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `steelyard` with some words in a folder, in a process of its own."""

    def run(
        *words: str | Path, cwd: Path, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = run_warm(cwd, *words, environment={**os.environ, **(env or {})})
        return subprocess.CompletedProcess(words, *done)

    return run
