"""What a server does about runs beside answering requests: workers, and the sweep of the spool."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager

from steelyard.api.serving import ServerSettings
from steelyard.errors import SteelyardError
from steelyard.project import Project
from steelyard.store.runs.queue_workers import QueueWorkers
from steelyard.usecases.runs.swept_uploads import sweep_uploads

_LOG = logging.getLogger("steelyard.spool")
_SWEEP_S = 600.0


@contextmanager
def executing(project: Project, settings: ServerSettings) -> Generator[QueueWorkers]:
    """Execute queued runs and sweep the spool for as long as the server runs."""
    project.spool.require_ready()
    is_over = threading.Event()
    sweeper = threading.Thread(
        target=_sweep, args=(project, is_over), name="steelyard-sweep", daemon=True
    )
    sweeper.start()
    try:
        log = (settings.log_format, settings.log_level)
        with QueueWorkers(project.root, settings.workers, log) as workers:
            yield workers
    finally:
        is_over.set()
        sweeper.join()


def _sweep(project: Project, is_over: threading.Event) -> None:
    while True:
        try:
            sweep_uploads(project.spool, project.run_queue)
        except (SteelyardError, OSError) as error:
            _LOG.warning("cannot sweep the spool: %s", error)
        if is_over.wait(_SWEEP_S):
            return
