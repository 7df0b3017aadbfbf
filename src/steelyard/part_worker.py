"""A process that works on a part of a run which another process holds.

Started for each worker of a run as `python -P -m steelyard.part_worker` with the project's root.
Its work comes in over standard input, and what it finds out goes to standard output, in the frames
of `steelyard.store.runs.worker_pipe`; warnings and what targets print, on standard error.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import SteelyardError
from steelyard.event_loop import run_async
from steelyard.execution.parts import Part
from steelyard.garbage_collection import tune_garbage_collection
from steelyard.project import open_project
from steelyard.store.installed import require_plugins
from steelyard.store.runs.ledger import BatchLedger
from steelyard.store.runs.worker_pipe import HolderPipe
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.work_on_part import work_on_part

_GRACE_S = 5.0


def main(root: str) -> int:
    """Work on the part; 0 when it is done, 3 when it cannot go on, 130 when it was stopped."""
    os.chdir(root)
    holder = _holder()
    signal.signal(signal.SIGTERM, _stop)
    # A background job of a script ignores Ctrl-C; the event loop only replaces this very handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ports = _ports(root, holder)
        tune_garbage_collection()
        job = holder.job()
        if job:
            if job.plugins is not None:
                require_plugins(job.plugins)
            part = Part(*job.part, coordinator=holder)
            run_async(lambda: work_on_part(ports, job.run_id, part, job.targets))
        ports.repository.close()
    except SteelyardError as error:
        holder.fail(str(error))
        return 3
    except Exception as error:  # noqa: BLE001 - whoever watches the run learns of a bug, too
        traceback.print_exc()
        holder.fail(f"{type(error).__name__}: {error}")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        # On the way out there is nothing left to break off in order.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return 0


def _ports(root: str, holder: HolderPipe) -> RunPorts:
    """What this process needs; what it keeps, the process that holds the run keeps."""

    def open_ledger(_run_id: str, redact: Redactor, now: Callable[[], str]) -> BatchLedger:
        return BatchLedger(holder, redact, now)

    def on_cancel(_run_id: str, callback: Callable[[], None]) -> None:
        holder.on_cancel(callback)

    ports = open_project(root, warn=_warn).run_ports()
    return replace(ports, ledger=open_ledger, on_cancel=on_cancel)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """End in order; and in any case, since an interrupt can be lost in the event loop."""
    # A second interrupt would end whatever code runs at that moment.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Nobody is left to read what an end in the midst of things would say.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    end = threading.Timer(_GRACE_S, os._exit, (130,))
    end.daemon = True
    end.start()
    # The event loop ends its tasks one after the other, and what they keep is kept.
    signal.raise_signal(signal.SIGINT)


def _warn(message: str) -> None:
    """As the process that holds the run shows its own."""
    sys.stderr.write(f"steelyard: warning: {message}\n")


def _holder() -> HolderPipe:
    """The two pipes, out of the way of targets that print or read."""
    stream, out = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return HolderPipe(stream, out)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
