"""Stop a run and finalize its partial results."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from steelyard.engine.redaction.redactor import Redactor
from steelyard.engine.states import is_terminal
from steelyard.errors import (
    BucketAwayError,
    RequestError,
    RunError,
    SourceError,
    SteelyardError,
    StoreAwayError,
    TargetError,
)
from steelyard.execution.finalize import finalize
from steelyard.execution.ports import TargetSpec
from steelyard.execution.provenance import unread_provenance
from steelyard.execution.worker_thread import in_thread
from steelyard.formats.root_paths import text_from
from steelyard.model.audit import CANCEL, Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.results.stored_run import StoredRun, require_plan
from steelyard.settings import RedactionRules
from steelyard.usecases.runs.execute import continue_run, is_held, prepare_again, require_claim
from steelyard.usecases.runs.ports import RunPorts

_LOOK_S = 0.2


async def cancel_run(
    ports: RunPorts,
    run: StoredRun,
    patience_s: float = 30.0,
    *,
    caller: Caller | None = None,
) -> StoredRun:
    """Ask for a run to be cancelled and wait until it is.

    The process that works on it aborts its calls and seals the results; a run without a process
    is sealed here. Returns the run afterwards, which may still be active if its process does not
    respond in time.
    """
    if is_terminal(run.status):
        return run
    ports = ports.called_by(caller)
    ports.repository.request_cancel(run.run_id, ports.entry(CANCEL, run.run_id))
    deadline = ports.clock.monotonic() + patience_s
    while True:
        now = ports.repository.find(run.run_id)
        if is_terminal(now.status) or ports.clock.monotonic() > deadline:
            return now
        if not is_held(ports, now):
            await _seal(ports, now)
            continue
        await ports.clock.sleep(_LOOK_S)


async def _seal(ports: RunPorts, run: StoredRun) -> None:
    """Finalize a cancelled run, unless another process does so."""
    try:
        unread = await _carry_on(ports, run)
        if unread:
            unread = text_from(ports.root, unread)
            now = ports.repository.find(run.run_id)
            await in_thread(partial(_seal_unread, ports, now, unread))
    except RequestError:
        now = ports.repository.find(run.run_id)
        if not is_terminal(now.status) and not is_held(ports, now):
            raise


async def _carry_on(ports: RunPorts, run: StoredRun) -> str | None:
    """Cancel the remaining records; if the inputs of the run are missing, return why."""
    try:
        prepared = await prepare_again(_asking_nobody(ports.of_run(run), run), run)
    except (StoreAwayError, BucketAwayError):
        raise  # what is away for a while is not missing
    except (SteelyardError, OSError) as wrong:
        return _reason(wrong)
    try:
        await continue_run(ports, run, prepared, _ignore)
    except (SourceError, OSError) as wrong:
        return _reason(wrong)
    return None


def _asking_nobody(ports: RunPorts, run: StoredRun) -> RunPorts:
    """Replace the targets: a cancelled run needs no key, program or recording."""
    plan = require_plan(run)
    models = {**(plan.judges.targets if plan.judges else {}), **plan.models}

    def remembered(name: str) -> TargetSpec:
        return made(name) if name in models else ports.target(name)

    def made(name: str) -> TargetSpec:
        sampling = dict(models.get(name, {}))
        target = _Remembered(name, plan.targets.get(name, {}))
        return TargetSpec(
            name=name,
            target=target,
            model=sampling.pop("model", None),
            replies_sha256=sampling.pop("replies_sha256", None),
            sampling=sampling,
        )

    def recorded(_path: Path, name: str | None) -> TargetSpec:
        return made(name or cast(str, run.target))

    def of_model(name: str, _model: str) -> TargetSpec:
        return remembered(name)

    return replace(ports, target=remembered, target_of_model=of_model, recorded=recorded)


class _Remembered:
    """A target as stored with its run."""

    def __init__(self, name: str, described: JsonObject) -> None:
        self.name = name
        self._described = described

    def described(self) -> JsonObject:
        """Its settings at the start of the run."""
        return self._described

    async def ask(self, request: Request) -> Trace:
        """Never called: every record is cancelled before."""
        raise TargetError("cancelled", f"'{request.case.id}' was asked of a cancelled run")

    async def close(self) -> None:
        """Nothing to close."""


def _seal_unread(ports: RunPorts, run: StoredRun, why: str) -> None:
    """Seal the stored results, and warn that the other records cannot be read."""
    redact = Redactor.by(RedactionRules.planned(require_plan(run).redacted), ports.secrets)
    require_claim(ports, run)
    try:
        if run.status in {"running", "retrying"}:
            ports.repository.move(run.run_id, "finalizing", ports.clock.stamp())
        finalize(ports, run.run_id, unread_provenance(ports, run, why), redact)
        ports.warn(f"{why}; {run.run_id} is sealed with what it has kept")
        ports.delete_inputs(run)
    except BaseException:
        with suppress(RunError):
            ports.repository.release(run.run_id, ports.clock.stamp())
        raise


def _reason(wrong: Exception) -> str:
    if isinstance(wrong, OSError) and wrong.strerror:
        return ": ".join(str(part) for part in (wrong.filename, wrong.strerror) if part)
    return str(wrong)


def _ignore(_: object) -> None:
    """Ignore progress."""
