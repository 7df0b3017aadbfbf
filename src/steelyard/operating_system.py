"""What differs between operating systems: Linux is the reference, docs/platforms.md the list."""

from __future__ import annotations

import atexit
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable

IS_WINDOWS = os.name == "nt"
NEW_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""For `creationflags`: on Windows, what `start_new_session` is elsewhere."""


_ENDS_AT_ONCE: list[str] = []


def end_at_once_later(why: str) -> None:
    """Let this process end without the clean-up of libraries that crash in it, and why."""
    _ENDS_AT_ONCE.append(why)


def must_end() -> bool:
    """Whether this process cannot be used any longer."""
    return bool(_ENDS_AT_ONCE)


def end_at_once(code: object) -> None:
    """End with an exit code if that was asked for; what was registered for the end is done."""
    if not _ENDS_AT_ONCE:
        return
    finish: Callable[[], None] = vars(atexit)["_run_exitfuncs"]  # it has no other name
    finish()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def ask_to_end() -> None:
    """Let the main thread of this process handle SIGTERM; from any thread."""
    if IS_WINDOWS:
        # There, `os.kill` ends a process at once and calls no handler.
        signal.raise_signal(signal.SIGTERM)
    else:
        # Of a signal that a thread raises for itself, a waiting main thread hears nothing.
        os.kill(os.getpid(), signal.SIGTERM)


def has_input(number: int) -> bool:
    """Whether a socket has bytes to read, or has ended."""
    if not hasattr(select, "poll"):
        return bool(select.select([number], [], [], 0)[0])  # Windows: of sockets, any number
    found = select.poll()
    found.register(number, select.POLLIN)
    return bool(found.poll(0))
