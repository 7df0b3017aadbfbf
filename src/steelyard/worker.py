"""A process that executes the queued runs of a project, one after the other.

The server starts it as `python -P -m steelyard.worker` with the project's root; it ends when its
standard input is closed, and so when the server is gone. `steelyard worker` starts it by hand.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType

from steelyard.errors import SchemaVersionError, SteelyardError
from steelyard.event_loop import run_async, tune_garbage_collection
from steelyard.model.run import Result
from steelyard.ports import Warn
from steelyard.project import Project, open_project
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.runs.queue import execute_queued_run, next_queued_run

_LOOK_S = 0.25
_REST_S = 5.0
"""How long a worker waits that cannot use the store."""
_GRACE_S = 8.0


def main(root: str) -> int:
    """Work for the server that has started this process."""
    watch = threading.Thread(target=_watch_parent, name="steelyard-parent", daemon=True)
    watch.start()
    try:
        work(root, _warn)
    except SchemaVersionError as error:
        _warn(str(error))
        return 3
    return 0


def work(root: str, warn: Warn) -> None:
    """Execute queued runs until the process is asked to stop.

    The run that is being executed then is released and stays in the queue.
    """
    os.chdir(root)
    signal.signal(signal.SIGTERM, _stop)
    # A background job of a script ignores Ctrl-C; the event loop only replaces this very handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with open_project(root, warn=warn) as project:
            tune_garbage_collection()
            while True:
                _take_next(project, warn)
    except KeyboardInterrupt:
        pass
    finally:
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


def _warn(message: str) -> None:
    sys.stderr.write(f"steelyard worker: {message}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
