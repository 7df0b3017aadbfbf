"""The command in processes that are there at once: forks of one that has imported everything.

A killed process costs a fraction of a second this way, most of which is the run itself.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, cast

SERVER = """
import gc, importlib, json, os, pkgutil, sys
import numpy, sqlalchemy.dialects.sqlite, uvloop
import steelyard
from steelyard.cli.main import main

for found in pkgutil.walk_packages(steelyard.__path__, "steelyard."):
    if found.name.partition(".")[2] not in {"__main__", "pytest_plugin"}:
        importlib.import_module(found.name)

def begin(folder, words, said):
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.argv = ["steelyard", *words]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0

gc.collect()
gc.freeze()
for line in sys.stdin:
    child = os.fork()
    if not child:
        code = 1
        try:
            code = begin(**json.loads(line))
        finally:
            sys.stderr.flush()
            os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Ended(NamedTuple):
    """How a process ended, and what it wrote to its standard error."""

    code: int
    stderr: str


class WarmCommand:
    """Starts `steelyard` without the time that Python and its imports take; one at a time."""

    def __init__(self, said: Path) -> None:
        self._said = said
        self._server = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            # What measures coverage would write a file for each process that is not killed.
            env={name: value for name, value in os.environ.items() if "COVERAGE" not in name},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="ascii",
        )
        self._child = 0
        self._ended: Ended | None = None

    def start(self, folder: Path, *words: str) -> None:
        """Begin a command in a folder; the one before must have ended."""
        row = {"folder": str(folder), "words": words, "said": str(self._said)}
        stream = cast(IO[str], self._server.stdin)
        stream.write(json.dumps(row) + "\n")
        stream.flush()
        self._child, self._ended = int(self._line()), None

    def has_ended(self, within_s: float) -> bool:
        """Whether it has come to its end, or does so soon."""
        stream = cast(IO[str], self._server.stdout)
        return bool(select.select([stream], [], [], within_s)[0])

    def kill(self) -> Ended:
        """As a power cut would; it may have been done just before."""
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        return self.wait()

    def wait(self) -> Ended:
        """Until it has ended."""
        if self._ended is None:
            self._ended = Ended(int(self._line()), self._said.read_text(encoding="utf-8"))
        return self._ended

    def close(self) -> None:
        """End the process from which the others are made."""
        self._server.communicate(timeout=30)

    def _line(self) -> str:
        return cast(IO[str], self._server.stdout).readline()
