"""Lets go of a run whose execution has ended early, and says why."""

from __future__ import annotations

from pathlib import Path

from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import (
    BucketAwayError,
    EngineAwayError,
    SteelyardError,
    StoreAwayError,
    UnresumableError,
)
from steelyard.formats.encoding import without_surrogates
from steelyard.formats.root_paths import text_from
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.runs.ports import RunPorts

_STAYS_QUEUED = (StoreAwayError, BucketAwayError, EngineAwayError)


def release_run(ports: RunPorts, run: StoredRun, error: BaseException, redact: Redactor) -> None:
    """Release the run for other processes, unless it cannot be resumed."""
    run_id, repository, at = run.run_id, ports.repository, ports.clock.stamp()
    if isinstance(error, UnresumableError) and not repository.is_cancelling(run_id):
        repository.finish(run_id, "failed", at, {})
        ports.delete_inputs(run)
    else:
        repository.release(run_id, at, _why(ports.root, run, error, redact))


def _why(root: Path, run: StoredRun, error: BaseException, redact: Redactor) -> str:
    """What ended its execution; empty where somebody did, or where its queue says it."""
    is_said = run.is_queued and not isinstance(error, _STAYS_QUEUED)
    if is_said or not isinstance(error, SteelyardError):
        return ""
    return without_surrogates(redact.text(text_from(root, f"stopped: {error}")))
