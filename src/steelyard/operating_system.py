"""What differs between operating systems: Linux is the reference, docs/platforms.md the list."""

from __future__ import annotations

import os
import select
import signal
import subprocess

IS_WINDOWS = os.name == "nt"
NEW_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""For `creationflags`: on Windows, what `start_new_session` is elsewhere."""


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
