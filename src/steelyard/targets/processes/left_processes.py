"""Ends what a program has left where it has killed the processes that watched over it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "STEELYARD_PROGRAM"
"""The variable by which a process is known as started by one run of a program."""
_END_S = 5.0


def end_marked(mark: str) -> None:
    """End every process that has inherited a mark, as far as the machine shows them (Linux)."""
    until = time.monotonic() + _END_S
    while (left := list(_marked(mark))) and time.monotonic() < until:
        # What is stopped starts nothing while the others are ended.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)


def _marked(mark: str) -> Iterator[int]:
    sought = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        # Those of other users cannot be read, and what has just ended has none.
        with suppress(OSError):
            if sought in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
