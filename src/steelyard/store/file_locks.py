"""Locks that a process holds on a file for as long as it lives."""

from __future__ import annotations

from typing import BinaryIO

# ruff: noqa: PLC0415 - Windows has no such module


def hold(stream: BinaryIO) -> None:
    """Lock a file until it is closed; without locks (Windows), do nothing."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_let_go(stream: BinaryIO) -> bool:
    """Whether nobody holds the lock of a file any more; False where that cannot be known."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
