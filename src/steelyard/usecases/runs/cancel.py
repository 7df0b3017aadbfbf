"""End a run before its last record."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from steelyard.engine.redaction.redactor import Redactor
from steelyard.engine.states import is_terminal
from steelyard.errors import RequestError, RunError, SourceError, SteelyardError, TargetError
from steelyard.execution.finalize import finalize
from steelyard.execution.ports import TargetSpec
from steelyard.execution.provenance import unread_provenance
from steelyard.execution.worker_thread import in_thread
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

    Whoever works on it breaks off its calls and seals what there is; a run that nobody works on
    is sealed here. The run as it is afterwards, which may be still at work when its process does
    not answer in time.
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
    """Carry a cancelled run to its end, unless somebody else does so just now."""
    try:
        unread = await _carry_on(ports, run)
        if unread:
            now = ports.repository.find(run.run_id)
            await in_thread(partial(_seal_unread, ports, now, unread))
    except RequestError:
        now = ports.repository.find(run.run_id)
        if not is_terminal(now.status) and not is_held(ports, now):
            raise


async def _carry_on(ports: RunPorts, run: StoredRun) -> str | None:
    """Cancel every record that is left; why not, where what the run reads is not there."""
    try:
        prepared = await prepare_again(_asking_nobody(ports.of_run(run.run_id), run), run)
    except (SteelyardError, OSError) as wrong:
        return _told(wrong)
    try:
        await continue_run(ports, run, prepared, _ignore)
    except (SourceError, OSError) as wrong:
        return _told(wrong)
    return None


def _asking_nobody(ports: RunPorts, run: StoredRun) -> RunPorts:
    """A cancelled run needs no key, no program and no recording of any target."""
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

    return replace(ports, target=remembered, recorded=recorded)


class _Remembered:
    """A target as its run remembers it."""

    def __init__(self, name: str, described: JsonObject) -> None:
        self.name = name
        self._described = described

    def described(self) -> JsonObject:
        """Its settings when the run began."""
        return self._described

    async def ask(self, request: Request) -> Trace:
        """Never, since every record is cancelled before."""
        raise TargetError("cancelled", f"'{request.case.id}' was asked of a cancelled run")

    async def close(self) -> None:
        """Nothing to let go."""


def _seal_unread(ports: RunPorts, run: StoredRun, why: str) -> None:
    """Seal what was kept, and say that there is more which nobody can read."""
    ports.warn(f"{why}; {run.run_id} is sealed with what it has kept")
    redact = Redactor.by(RedactionRules.planned(require_plan(run).redacted), ports.secrets)
    require_claim(ports, run)
    try:
        if run.status in {"running", "retrying"}:
            ports.repository.move(run.run_id, "finalizing", ports.clock.stamp())
        finalize(ports, run.run_id, unread_provenance(ports, run, why), redact)
        ports.inputs.delete(run.run_id)
    except BaseException:
        with suppress(RunError):
            ports.repository.release(run.run_id, ports.clock.stamp())
        raise


def _told(wrong: Exception) -> str:
    if isinstance(wrong, OSError) and wrong.strerror:
        return ": ".join(str(part) for part in (wrong.filename, wrong.strerror) if part)
    return str(wrong)


def _ignore(_: object) -> None:
    """Nobody looks on."""
