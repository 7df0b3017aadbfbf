"""A process that executes the queued runs of a project, one after the other.

The server starts it as `python -P -m steelyard.worker` with the project's root and the format and
level of the log; it ends when its standard input is closed, and so when the server is gone.
`steelyard worker` starts it by hand.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import closing, suppress
from types import FrameType
from typing import Any, cast

from steelyard.api.log_lines import LogFormat, set_up_logging
from steelyard.errors import EngineAwayError, SchemaVersionError, SteelyardError
from steelyard.event_loop import run_async
from steelyard.garbage_collection import tune_garbage_collection
from steelyard.model.run import Result
from steelyard.operating_system import ask_to_end, end_at_once, must_end
from steelyard.ports import Warn
from steelyard.project import Project, open_project
from steelyard.results.stored_run import StoredRun, require_plan
from steelyard.usecases.runs.queue import execute_queued_run, next_queued_run

_LOG = logging.getLogger("steelyard.worker")
_LOOK_S = 0.25
_GLANCE_S = 0.05
"""How often a worker that waits looks whether any run has changed, which takes microseconds."""
_REST_S = 5.0
"""How long a worker waits that cannot use the store."""
_GRACE_S = 8.0
_FROZEN_S = 20.0
"""Longer than a lease: whoever is frozen for so long has lost its run."""
_THAW_S = 1.0


def main(root: str, log_format: LogFormat, log_level: str) -> int:
    """Work for the server that has started this process; log as it does."""
    _log(root, log_format, log_level)
    watch = threading.Thread(target=_watch_parent, name="steelyard-parent", daemon=True)
    watch.start()
    try:
        work(root, _LOG.warning)
    except SteelyardError as error:
        _LOG.error("%s", error)
        return 3
    except Exception:  # noqa: BLE001 - a bug is logged like everything else
        _LOG.exception("the worker failed")
        return 1
    return 0


def _log(root: str, log_format: LogFormat, log_level: str) -> None:
    secrets: tuple[str, ...] = ()
    # What is wrong with the project is said where it is opened to work.
    with suppress(SteelyardError), open_project(root) as project:
        secrets = project.secrets()
    set_up_logging(log_format, log_level, secrets)


def work(root: str, warn: Warn) -> None:
    """Execute queued runs until the process is asked to stop.

    The run that is being executed then is released and stays in the queue.
    """
    os.chdir(root)
    request = _ExitRequest()
    # Both, and more than once: the server sends a signal and closes the pipe.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, request.note)
    is_over = threading.Event()
    threading.Thread(target=_end_when_frozen, args=(is_over,), daemon=True).start()
    try:
        with open_project(root, warn=warn) as project:
            tune_garbage_collection()
            while not request.is_asked:
                _take_next(project, warn, request)
                if must_end():
                    raise EngineAwayError("the worker lost its cluster and ends; start it again")
    except asyncio.CancelledError:
        if not request.is_asked:
            raise
    finally:
        is_over.set()
        # On the way out there is nothing left to break off in order, nor to ask for again.
        signal.signal(signal.SIGTERM, signal.SIG_IGN if request.is_asked else signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)


class _ExitRequest:
    """Whether the process shall end; then the run that is being executed is cancelled.

    An exception of the signal itself would end whatever code runs at that moment.
    """

    def __init__(self) -> None:
        self.is_asked = False
        self._executing: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    def note(self, _number: int, _frame: FrameType | None) -> None:
        """Ask for the end; after a while it comes in any case."""
        if self.is_asked:
            return
        self.is_asked = True
        end = threading.Timer(_GRACE_S, os._exit, (130,))
        end.daemon = True
        end.start()
        if self._executing:
            loop, task = self._executing
            loop.call_soon_threadsafe(task.cancel)

    async def cancels(self, work: Coroutine[Any, Any, object]) -> None:
        """Wait for work, which is cancelled when the end is asked for."""
        task = asyncio.current_task()
        assert task
        self._executing = asyncio.get_running_loop(), task
        if self.is_asked:
            task.cancel()
        try:
            await work
        finally:
            self._executing = None

    def rest(self, seconds: float, has_work: Callable[[], bool] = lambda: False) -> None:
        """Wait, but not for long after there is work or the end is asked for."""
        until = time.monotonic() + seconds
        while not (self.is_asked or has_work()) and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _GLANCE_S))


def _take_next(project: Project, warn: Warn, request: _ExitRequest) -> None:
    """Execute the next run, or wait a moment."""
    try:
        project.condition.require_own_schema()
        changes = project.store.changes
        before = changes.of_runs()
        run = next_queued_run(project.run_queue, project.is_alive)
        if run:
            _execute(str(project.root), run, warn, request)
        else:
            request.rest(_LOOK_S, lambda: changes.of_runs() != before)
    except SchemaVersionError:
        raise
    except SteelyardError as error:
        warn(str(error))
        request.rest(_REST_S)


def _execute(root: str, run: StoredRun, warn: Warn, request: _ExitRequest) -> None:
    # Opened anew, as the project file may have changed since the last run.
    with open_project(root, warn=warn) as project:
        ports, queue = project.executing_ports(), project.run_queue
        with closing(ports.worker_pool) as pool:
            if pool.is_remote and not run.is_cancelling:
                # A run whose cluster is away stays in the queue.
                pool.warm(require_plan(run).options.workers)
            run_async(lambda: request.cancels(execute_queued_run(ports, queue, run, _nobody)))


def _end_when_frozen(is_over: threading.Event) -> None:
    """End the process, with a traceback, when its threads no longer get a turn.

    A check or a target may call into compiled code that never returns and lets nobody else run:
    the run can neither be cancelled nor go on then, and the server starts another process.
    """
    while not is_over.is_set():
        faulthandler.dump_traceback_later(_FROZEN_S, exit=True)
        is_over.wait(_THAW_S)
    faulthandler.cancel_dump_traceback_later()


def _nobody(_result: Result) -> None:
    """Ignore progress: whoever follows the run reads its events."""


def _watch_parent() -> None:
    """Stop when the process that has started this one closes the pipe, or is gone."""
    while os.read(0, 1024):
        pass
    ask_to_end()


if __name__ == "__main__":
    ended = main(sys.argv[1], cast(LogFormat, sys.argv[2]), sys.argv[3])
    end_at_once(ended)
    sys.exit(ended)
