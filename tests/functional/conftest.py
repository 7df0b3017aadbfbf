"""The real command, as a user starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def steelyard() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `steelyard` with some words in a folder and returns what it said."""

    def run(
        *words: str | Path, cwd: Path, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "steelyard", *map(str, words)]
        return subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )

    return run
