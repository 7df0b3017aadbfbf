"""A process that executes the queued runs of a project, one after the other.

The server starts it as `python -P -m steelyard.worker` with the project's root and the format and
level of the log; it ends when its standard input is closed, and so when the server is gone.
`steelyard worker` starts it by hand.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import cast

from steelyard.api.log_lines import LogFormat, set_up_logging
from steelyard.errors import SchemaVersionError, SteelyardError
from steelyard.event_loop import run_async, tune_garbage_collection
from steelyard.model.run import Result
from steelyard.ports import Warn
from steelyard.project import Project, open_project
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.runs.queue import execute_queued_run, next_queued_run

_LOG = logging.getLogger("steelyard.worker")
_LOOK_S = 0.25
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
    except SchemaVersionError as error:
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
    signal.signal(signal.SIGTERM, _stop)
    # A background job of a script ignores Ctrl-C; the event loop only replaces this very handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    is_over = threading.Event()
    threading.Thread(target=_end_when_frozen, args=(is_over,), daemon=True).start()
    try:
        with open_project(root, warn=warn) as project:
            tune_garbage_collection()
            while True:
                _take_next(project, warn)
    except KeyboardInterrupt:
        pass
    finally:
        is_over.set()
        # On the way out there is nothing left to break off in order.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _take_next(project: Project, warn: Warn) -> None:
    """Execute the next run, or wait a moment."""
    try:
        project.condition.require_own_schema()
        run = next_queued_run(project.run_queue, project.is_alive)
        if run:
            _execute(str(project.root), run, warn)
        else:
            time.sleep(_LOOK_S)
    except SchemaVersionError:
        raise
    except SteelyardError as error:
        warn(str(error))
        time.sleep(_REST_S)


def _execute(root: str, run: StoredRun, warn: Warn) -> None:
    # Opened anew, as the project file may have changed since the last run.
    with open_project(root, warn=warn) as project:
        ports, queue = project.run_ports(), project.run_queue
        run_async(lambda: execute_queued_run(ports, queue, run, _nobody))


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


def _stop(_number: int, _frame: FrameType | None) -> None:
    """End as with Ctrl-C; and in any case, since an interrupt can be lost in a busy thread."""
    end = threading.Timer(_GRACE_S, os._exit, (130,))
    end.daemon = True
    end.start()
    signal.raise_signal(signal.SIGINT)


def _watch_parent() -> None:
    """Stop when the process that has started this one closes the pipe, or is gone."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], cast(LogFormat, sys.argv[2]), sys.argv[3]))
