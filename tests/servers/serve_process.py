"""The `steelyard serve` command as a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_ADDRESS = re.compile(r"https?://\S+:\d+")


class ServeProcess(NamedTuple):
    """A started server."""

    url: str
    process: subprocess.Popen[str]
    log: Path
    """What it wrote to stderr."""

    def log_lines(self) -> list[str]:
        """The lines of its log so far."""
        return self.log.read_text(encoding="utf-8").splitlines()


@contextmanager
def serving(
    folder: Path,
    *words: str,
    env: dict[str, str] | None = None,
    program: str = sys.executable,
) -> Generator[ServeProcess]:
    """A server on a free port, which is killed at the end if it still runs."""
    log = folder / "serve.log"
    command = [program, "-P", "-m", "steelyard", "serve", "--port", "0", *words]
    with log.open("w", encoding="utf-8") as err:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=err, encoding="utf-8"
        )
    try:
        yield ServeProcess(_address(process, log), process, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _address(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout
    for line in process.stdout:
        found = _ADDRESS.search(line)
        if found:
            return found[0]
    raise AssertionError(f"the server has not started: {log.read_text(encoding='utf-8')}")
