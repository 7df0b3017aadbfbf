"""The worker processes of a server: started and ended with it, and restarted when they die."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Self, cast

from steelyard.operating_system import IS_WINDOWS, NEW_GROUP

_LOG = logging.getLogger("steelyard.workers")
_LOOK_S = 0.2
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_SOUND_S = 60.0
"""A worker that has lived so long is restarted at once."""
_GRACE_S = 10.0


class QueueWorkers:
    """Processes that execute the queued runs of a project."""

    def __init__(self, root: Path, count: int, log: tuple[str, str]) -> None:
        self._root = root
        self._log = log
        """The format and the lowest level of their log; it goes where that of the server goes."""
        self._count = count
        self._is_over = threading.Event()
        self._threads: list[threading.Thread] = []
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        for place in range(self._count):
            self.processes.append(self._started())
            keeper = threading.Thread(
                target=self._keep, args=(place,), name=f"steelyard-keeper-{place}", daemon=True
            )
            self._threads.append(keeper)
            keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Let every worker hand back its run; one that does not end in time is killed."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        for process in self.processes:
            with suppress(OSError):
                cast(IO[bytes], process.stdin).close()
                if not IS_WINDOWS:  # where it would end at once, its run still in its hands
                    process.terminate()
        deadline = time.monotonic() + _GRACE_S
        for process in self.processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _keep(self, place: int) -> None:
        """Restart a worker whenever it dies, more slowly each time that it dies young."""
        began, wait = time.monotonic(), _FIRST_WAIT_S
        while not self._is_over.wait(_LOOK_S):
            process = self.processes[place]
            if process.poll() is None:
                continue
            with suppress(OSError):
                cast(IO[bytes], process.stdin).close()
            if time.monotonic() - began > _SOUND_S:
                wait = _FIRST_WAIT_S
            code = process.returncode
            _LOG.warning("worker %d ended with %d; restarted in %.1f s", process.pid, code, wait)
            if self._is_over.wait(wait):
                return
            wait = min(2 * wait, _LONGEST_WAIT_S)
            began = time.monotonic()
            self.processes[place] = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own module
            # -P: a module in the project's folder is not taken for one that is installed.
            [sys.executable, "-P", "-m", "steelyard.worker", str(self._root), *self._log],
            # It ends when this pipe is closed, and so when this process is killed.
            stdin=subprocess.PIPE,
            # Ctrl-C is for the server, which ends its workers in order.
            start_new_session=True,
            creationflags=NEW_GROUP,
        )
