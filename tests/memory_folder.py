"""Where the tests write: in memory, where there is room.

A disk costs a test that opens a store ten times its own time, most of it waited for with both
processors idle. What a test needs of a disk, such as one that is full, it makes itself.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest

SHARED_MEMORY = Path("/dev/shm")
PREFIX = "sy-"  # it is part of the names of sockets, which are short
GIGABYTE = 2**30
NEEDED = 4 * GIGABYTE
"""More than all tests write at a time."""
FREE_BESIDE = 8 * GIGABYTE
"""What is free then, for the tests themselves."""
FOLDER = pytest.StashKey[Path]()
_AVAILABLE = re.compile(r"^MemAvailable: +(\d+) kB$", re.MULTILINE)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have temporary folders in memory; a worker has them where its session has them.

    Who sets TMPDIR has said where they are to be.
    """
    if hasattr(session.config, "workerinput") or "TMPDIR" in os.environ:
        return
    if not has_room(SHARED_MEMORY):
        return
    remove_left(SHARED_MEMORY)
    folder = SHARED_MEMORY / f"{PREFIX}{os.getpid()}"
    folder.mkdir(mode=0o700)
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    session.config.stash[FOLDER] = folder


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remove it when the process ends; what a failed test has written stays for one session."""
    if exitstatus == pytest.ExitCode.OK and FOLDER in session.config.stash:
        atexit.register(shutil.rmtree, session.config.stash[FOLDER], ignore_errors=True)


def has_room(folder: Path) -> bool:
    """Whether a folder is in memory that can be spared, and holds programs that can be started."""
    try:
        there = os.statvfs(folder)
        memory = _AVAILABLE.search(Path("/proc/meminfo").read_text(encoding="ascii"))
    except OSError:
        return False
    if memory is None or there.f_flag & os.ST_NOEXEC or not os.access(folder, os.W_OK):
        return False
    free, available = there.f_bavail * there.f_frsize, int(memory[1]) * 1024
    return free >= NEEDED and available >= NEEDED + FREE_BESIDE


def remove_left(folder: Path) -> None:
    """Remove what sessions have left whose processes have ended."""
    for left in folder.glob(f"{PREFIX}*"):
        number = left.name.removeprefix(PREFIX)
        if number.isdigit() and not Path("/proc", number).exists():
            shutil.rmtree(left, ignore_errors=True)
