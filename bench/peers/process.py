"""Runs a command once and measures the process with all its children."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from bench.child import Cost
from bench.peers.tool import CannotRunError, Command

_LOOK_S = 0.2
_PROXIES = {"http_proxy", "https_proxy", "all_proxy"}
# Fields of /proc/PID/stat, counted after the name, which may hold spaces.
_PARENT, _SESSION, _RESIDENT = 1, 3, 21


def fresh(folder: Path) -> Path:
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def measured(command: Command, folder: Path, limit_s: float) -> tuple[Cost, str]:
    """What a command cost, and what it printed; one that fails or takes too long is refused."""
    words = [str(word) for word in command.words]
    output, errors = folder / "output.txt", folder / "errors.txt"
    with output.open("w") as stdout, errors.open("w") as stderr:
        begin = time.perf_counter()
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=_environment(command, folder),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        watch = _Watch(process.pid, limit_s)
        watch.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except KeyboardInterrupt:
            # A session of its own does not hear Ctrl-C.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        finally:
            wall = time.perf_counter() - begin
            watch.stop()
    process.returncode = os.waitstatus_to_exitcode(status)
    if watch.killed:
        raise CannotRunError(f"did not end within {limit_s:,.0f} s")
    if process.returncode:
        raise CannotRunError(f"ended with exit code {process.returncode}")
    # Linux counts kilobytes, macOS bytes.
    largest = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    cost = Cost(wall, usage.ru_utime + usage.ru_stime, max(largest, watch.peak_bytes))
    return cost, output.read_text(encoding="utf-8", errors="replace")


def _environment(command: Command, folder: Path) -> dict[str, str]:
    """The environment without proxies, and with a home that is not the user's."""
    kept = {name: text for name, text in os.environ.items() if name.lower() not in _PROXIES}
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    return {**kept, "HOME": str(home), "NO_PROXY": "127.0.0.1", **command.environment}


class _Watch(Thread):
    """Adds up the memory of a session's processes now and then, and ends it at its limit."""

    def __init__(self, session: int, limit_s: float) -> None:
        super().__init__(daemon=True)
        self.peak_bytes = 0
        self.killed = False
        self._session = session
        self._end = time.monotonic() + limit_s
        self._over = Event()

    def run(self) -> None:
        while not self._over.wait(_LOOK_S):
            self.peak_bytes = max(self.peak_bytes, sum(_resident(self._session)))
            if time.monotonic() > self._end:
                self.killed = True
                os.killpg(self._session, signal.SIGKILL)
                return

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()


def _resident(session: int) -> Iterator[int]:
    """Bytes in memory of each process of a session, and of those that its processes have started.

    A child may have a session of its own. Nothing where there is no /proc.
    """
    ours = {session}
    for number, fields in sorted(_processes().items()):
        # A child has the higher number, but where numbers begin anew; its session counts, too.
        if int(fields[_SESSION]) == session or int(fields[_PARENT]) in ours:
            ours.add(number)
            yield int(fields[_RESIDENT]) * os.sysconf("SC_PAGE_SIZE")


def _processes() -> dict[int, list[str]]:
    """What the system says of each process, behind its name."""
    found: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended in the meantime
            text = path.read_text(encoding="utf-8", errors="replace")
            found[int(path.parent.name)] = text.rpartition(")")[2].split()
    return found
