"""Which process works on a run."""

from __future__ import annotations

import os
import socket
from pathlib import Path

_PROCESSES = Path("/proc")


def this_process() -> str:
    """Host, process id and, if the system provides it, the start time of the process."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid()) or ''}"


def is_alive(owner: str) -> bool:
    """Whether a process of this host still runs; of another host we must believe that it does."""
    host, number, started = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # A process id is given again; the same id with another start is another process.
    return not started or _started(int(number)) == started


def _started(number: int) -> str | None:
    """When a process started, in ticks since the boot; None of one that is dead or a zombie."""
    try:
        stat = (_PROCESSES / str(number) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *rest = stat.rsplit(")", 1)[1].split()
    return None if state == "Z" else rest[18]
