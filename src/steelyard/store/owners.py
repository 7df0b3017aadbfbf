"""Which process works on a run."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

from steelyard.operating_system import IS_WINDOWS

_PROCESSES = Path("/proc")
_PS_S = 10.0


def this_process() -> str:
    """Host, process id and, if the system provides it, the start time of the process."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid()) or ''}"


def is_alive(owner: str) -> bool:
    """Whether a process of this host still runs; of another host we must believe that it does."""
    host, number, started = owner.rsplit(":", 2)
    if host != socket.gethostname() or IS_WINDOWS:
        # To ask Windows with signal 0 would send Ctrl-C; until its lease ends, it counts as alive.
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
    if not (_PROCESSES / "self").exists():
        return _shown_by_ps(number)
    try:
        stat = (_PROCESSES / str(number) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *rest = stat.rsplit(")", 1)[1].split()
    return None if state == "Z" else rest[18]


def _shown_by_ps(number: int) -> str | None:
    """The same where there is no /proc (macOS), to the second; None where there is no ps."""
    command = ("ps", "-o", "state=,lstart=", "-p", str(number))
    environ = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    try:
        shown = subprocess.run(  # noqa: S603 - a tool of the system, and a number
            command, env=environ, capture_output=True, timeout=_PS_S, encoding="utf-8", check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    state, *started = shown.replace(":", ".").split()
    return None if state.startswith("Z") else "-".join(started)
