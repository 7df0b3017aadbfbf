"""Create runs, execute them, and resume interrupted ones."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from msgspec import structs

from steelyard.engine.circuit import FOR_GOOD
from steelyard.engine.states import is_terminal
from steelyard.errors import ConflictError, InvalidError, RunError, SourceError
from steelyard.execution.early_sealing import EarlySealing
from steelyard.execution.evaluating import OnResult, evaluate_records, redactor_of
from steelyard.execution.exit_requests import ExitRequests
from steelyard.execution.finalize import finalize, require_same_records, require_same_source
from steelyard.execution.judge_manifest import judge_sha256
from steelyard.execution.ports import TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.execution.provenance import kept_graders, kept_setup, provenance_of
from steelyard.execution.run_options import RunOptions, stored_options
from steelyard.execution.worker_thread import in_thread
from steelyard.execution.workers import evaluate_in_workers, has_workers
from steelyard.formats.encoding import without_surrogates
from steelyard.formats.root_paths import text_from
from steelyard.model.audit import AuditEntry, Caller
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.run import RunState
from steelyard.model.upload import upload_of
from steelyard.results.metrics import Metrics, kept_metrics
from steelyard.results.plan import Plan, PlannedJudges, PlannedRubric
from steelyard.results.stored_run import StoredRun, require_plan
from steelyard.usecases.results.read_run import is_run_folder
from steelyard.usecases.runs.derived_runs import planned_counts, tried_again
from steelyard.usecases.runs.ownership import has_owner
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import prepare
from steelyard.usecases.runs.queued_inputs import keep_inputs
from steelyard.usecases.runs.release_run import release_run
from steelyard.usecases.runs.unchanged_inputs import require_same_targets, require_unchanged

_BEFORE_RUNNING: dict[RunState, tuple[RunState, ...]] = {
    "queued": ("validating", "running"),
    "validating": ("running",),
}


class FinishedRun(FrozenStruct, frozen=True, kw_only=True):
    """The result of a run."""

    run_id: str
    status: RunState
    folder: str
    metrics: Metrics | None
    """None if the summary was pruned."""


async def plan_run(ports: RunPorts, options: RunOptions) -> Prepared:
    """Check everything that can be checked before the first call, in a worker thread."""
    return await in_thread(lambda: prepare(ports, options))


async def create_run(
    ports: RunPorts,
    options: RunOptions,
    *,
    in_place: bool = False,
    caller: Caller | None = None,
) -> StoredRun:
    """Check a run and keep it as queued, with all that it reads.

    Any process that has the project's data folder may execute it, whatever becomes of the user's
    files and of the project file. What cannot be kept is refused, unless the run may be executed
    in place: then it reads the project itself.
    """
    ports = ports.called_by(caller)
    reads: dict[Path, Path] = {}
    prepared = await plan_run(replace(ports, workspace=ports.noting(reads)), options)
    try:
        run = await in_thread(lambda: _new_run(ports, prepared))
        queued = replace(run, owner=None, fence=0, is_queued=True)
        try:
            await in_thread(lambda: keep_inputs(ports, run.run_id, prepared, reads))
        except InvalidError:
            if not in_place:
                raise
        _keep(ports, prepared, queued)
        return queued
    finally:
        await prepared.close()


async def execute_run(
    ports: RunPorts, name: str, on_result: OnResult, *, caller: Caller | None = None
) -> FinishedRun:
    """Execute a queued run, or what is left of an interrupted one; a finished one is read."""
    return await resume_run(ports, ports.repository.find(name), on_result, caller=caller)


async def start_run(
    ports: RunPorts,
    prepared: Prepared,
    on_start: Callable[[str], None],
    on_result: OnResult,
    *,
    caller: Caller | None = None,
) -> FinishedRun:
    """Create a run and execute it."""
    ports = ports.called_by(caller)
    try:
        await in_thread(ports.require_artifacts)
        run = await in_thread(lambda: _new_run(ports, prepared))
        _keep(ports, prepared, run)
        on_start(run.run_id)
        return await _execute(ports, run, prepared, on_result, is_resumed=False)
    finally:
        await prepared.close()


def _new_run(ports: RunPorts, prepared: Prepared) -> StoredRun:
    planned = _plan(ports, prepared)
    _require_kept(ports, prepared, planned)
    redact = redactor_of(prepared)
    setup = kept_setup(prepared, redact, ports.root)
    return StoredRun(
        run_id=ports.new_run_id(),
        status="queued",
        created_at=ports.clock.stamp(),
        dataset=redact.text(without_surrogates(prepared.dataset.id)),
        target=next(iter(prepared.specs)) if len(prepared.specs) == 1 else None,
        group_id=prepared.options.group_id,
        owner=ports.owner,
        plan=structs.replace(
            planned,
            targets=setup.targets,
            setup=setup,
            graders=kept_graders(prepared, redact),
            **planned_counts(prepared),
            secret=ports.new_secret(),
        ),
    )


def _keep(ports: RunPorts, prepared: Prepared, run: StoredRun) -> None:
    """Keep a new run, with who made it and what was warned of while it was planned."""
    redact = redactor_of(prepared)
    warnings = [
        without_surrogates(redact.text(text_from(ports.root, warning)))
        for warning in prepared.warnings
    ]
    derived = prepared.options.derived
    parent: JsonObject = {"derived_from": derived.run_id} if derived else {}
    about: JsonObject = {"dataset": run.dataset, "target": run.target, **parent}
    verb = f"{derived.how}_run" if derived else "create_run"
    ports.repository.create(run, ports.entry(verb, run.run_id, **about), warnings)


async def resume_run(
    ports: RunPorts, run: StoredRun, on_result: OnResult, *, caller: Caller | None = None
) -> FinishedRun:
    """Resume a run; its source must be the one it began with."""
    ports = ports.called_by(caller)
    require_plan(run)
    if is_terminal(run.status):
        folder = ports.run_folder(run.run_id)
        if is_run_folder(folder):
            ports.require_sealed(folder)
        metrics = kept_metrics(run.summary) if run.summary else None
        return FinishedRun(
            run_id=run.run_id, status=run.status, folder=str(folder), metrics=metrics
        )
    if run.run_id in ports.executing:
        raise ConflictError(f"{run.run_id} is being executed by this process already")
    if run.owner != ports.owner and is_held(ports, run):
        raise ConflictError(f"{run.run_id} is being worked on by another process ({run.owner})")
    entry = ports.entry("resume_run" if run.fence else "execute_run", run.run_id)
    ports = ports.of_run(run)
    return await continue_run(ports, run, await prepare_again(ports, run), on_result, entry)


async def prepare_again(ports: RunPorts, run: StoredRun) -> Prepared:
    """Prepare a run as it was at its start; any change since then is an error."""
    plan = require_plan(run)
    options = stored_options(plan.options, run.group_id)
    for folder in options.derived.folders if options.derived else ():
        await in_thread(partial(ports.require_sealed, folder))
    prepared = await plan_run(ports, options)
    try:
        now = await in_thread(lambda: _plan(ports, prepared))
        require_unchanged(run.run_id, plan, now)
        require_same_targets(run.run_id, plan, prepared)
    except BaseException:
        await prepared.close()
        raise
    return prepared


async def continue_run(
    ports: RunPorts,
    run: StoredRun,
    prepared: Prepared,
    on_result: OnResult,
    entry: AuditEntry | None = None,
) -> FinishedRun:
    """All that is left to do of a run that was stopped; `entry` is logged with its claim."""
    try:
        require_claim(ports, run, entry)
    except BaseException:
        await prepared.close()
        raise
    is_resumed = run.status != "queued"
    return await execute_claimed(ports, run, prepared, on_result, is_resumed=is_resumed)


async def execute_claimed(
    ports: RunPorts, run: StoredRun, prepared: Prepared, on_result: OnResult, *, is_resumed: bool
) -> FinishedRun:
    """All that is left to do of a run that this process has claimed."""
    try:
        return await _execute(ports, run, prepared, on_result, is_resumed=is_resumed)
    finally:
        await prepared.close()


def require_claim(ports: RunPorts, run: StoredRun, entry: AuditEntry | None = None) -> None:
    """Take a run over, unless another process just did."""
    if not ports.repository.claim(run, ports.owner, ports.clock.stamp(), entry):
        raise ConflictError(f"{run.run_id} was taken over by another process just now")


def is_held(ports: RunPorts, run: StoredRun) -> bool:
    """Whether a process works on a run."""
    return has_owner(run, ports.is_alive)


async def _execute(
    ports: RunPorts, run: StoredRun, prepared: Prepared, on_result: OnResult, *, is_resumed: bool
) -> FinishedRun:
    """Execute the rest of a run, from any state."""
    run_id = run.run_id
    early: EarlySealing | None = None
    requests = ExitRequests(on_result)
    ports.executing.add(run_id)
    try:
        state: RunState = await in_thread(
            lambda: _begin(ports, run, prepared, is_resumed=is_resumed)
        )
        # A cancelled run is finalizing before all of its records are stored as cancelled.
        if state != "finalizing" or ports.repository.is_cancelling(run_id):
            early = await _evaluate(ports, run_id, prepared, requests, state)
            await in_thread(lambda: _require_same(ports, run_id, prepared, is_resumed=is_resumed))
        return await in_thread(lambda: _seal(ports, run, prepared, early))
    except BaseException as error:
        if early:
            early.give_up()
        with suppress(RunError):
            release_run(ports, run, error, redactor_of(prepared))
        if requests.cause:
            raise requests.cause from None
        raise
    finally:
        ports.executing.discard(run_id)


def _begin(ports: RunPorts, run: StoredRun, prepared: Prepared, *, is_resumed: bool) -> RunState:
    """The steps before the first record, and the state after them.

    A run that was cancelled before it began never does: it stays in its state until it is sealed.
    """
    ports.require_artifacts()
    is_cancelling, derived = ports.repository.is_cancelling(run.run_id), prepared.options.derived
    if run.status in _BEFORE_RUNNING and derived and derived.how == "retry":
        ports.repository.copy_kept(derived.run_id, run.run_id, tried_again(prepared.options))
    if is_cancelling:
        return run.status
    if is_resumed and run.status != "finalizing":
        # After a key, name or certificate was fixed, run all failed records again.
        ports.repository.withdraw(run.run_id, FOR_GOOD)
    moves = _BEFORE_RUNNING.get(run.status, ())
    for state in moves:
        ports.repository.move(run.run_id, state, ports.clock.stamp(), ports.caller)
    return moves[-1] if moves else run.status


def _require_same(ports: RunPorts, run_id: str, prepared: Prepared, *, is_resumed: bool) -> None:
    """Check that all results come from the same records."""
    require_same_source(ports, run_id, prepared)
    if is_resumed:
        require_same_records(ports, run_id, prepared)


def _seal(
    ports: RunPorts,
    run: StoredRun,
    prepared: Prepared,
    early: EarlySealing | None,
) -> FinishedRun:
    """The steps after the last record."""
    run_id = run.run_id
    if ports.repository.find(run_id).status in {"running", "retrying"}:
        ports.repository.move(run_id, "finalizing", ports.clock.stamp())
    redact = early.redact if early else redactor_of(prepared)
    provenance = provenance_of(ports, run_id, prepared)
    setup = require_plan(run).setup
    if setup and ports.inputs.folder(run_id):
        # Where its files are kept for a while is nobody's business.
        provenance = replace(provenance, setup=setup)
    final, metrics, folder = finalize(ports, run_id, provenance, redact, early)
    ports.delete_inputs(run)
    return FinishedRun(run_id=run_id, status=final, folder=folder, metrics=metrics)


def _require_kept(ports: RunPorts, prepared: Prepared, planned: Plan) -> None:
    """Check that the parent of a retry is in the store and was graded in the same way."""
    derived = prepared.options.derived
    if derived is None or derived.how != "retry":
        return
    if not any(ports.repository.done(derived.run_id)):
        raise InvalidError(
            f"the results of {derived.run_id} are not in this project's store, so that none of "
            "them can be kept; start a new run"
        )
    parent = require_plan(ports.repository.find(derived.run_id))
    if isinstance(parent.rubric, tuple):
        # Records whose rubric is missing are invalid and reported.
        names = {one.name for one in cast("tuple[PlannedRubric, ...]", planned.rubric)}
        left = tuple(one for one in parent.rubric if one.name in names)
        parent = structs.replace(parent, rubric=left)
    if upload_of(parent.options.dataset):
        # The copy of a posted dataset was compared with it, record by record.
        parent = structs.replace(parent, source=planned.source)
    try:
        require_unchanged(derived.run_id, parent, planned)
        require_same_targets(derived.run_id, parent, prepared)
    except SourceError as changed:
        raise ConflictError(str(changed)) from None


async def _evaluate(
    ports: RunPorts, run_id: str, prepared: Prepared, on_result: OnResult, status: RunState
) -> EarlySealing | None:
    # A cancelled run has nothing to do that would be worth starting processes.
    if has_workers(ports, prepared) and not ports.repository.is_cancelling(run_id):
        return await evaluate_in_workers(ports, run_id, prepared, on_result, status)
    await evaluate_records(ports, run_id, prepared, on_result, status)
    return None


def _plan(ports: RunPorts, prepared: Prepared) -> Plan:
    """The plan stored with a run, so that it can be resumed."""
    options, rubrics, specs = prepared.options, prepared.grading.rubrics, prepared.specs
    judges = prepared.judges.judges
    return Plan(
        options=options.stored(),
        contract=prepared.contract.name,
        source=prepared.source,
        is_sound=prepared.is_sound,
        shown=prepared.shown,
        responses=ports.digest(ports.root / options.responses) if options.responses else None,
        rubric=tuple(PlannedRubric(name=one.name, sha256=one.sha256) for one in rubrics),
        models={
            name: {**(_model if name in prepared.judge_specs else _sampled)(spec), **_prompt(spec)}
            for name, spec in specs.items()
        },
        judges=PlannedJudges(
            targets={name: _model(spec) for name, spec in prepared.judge_specs.items()},
            templates={name: judge_sha256(one) for name, one in judges.items()},
        ),
        programs=prepared.grading.programs,
        redacted=prepared.redacted.plan(),
    )


def _prompt(spec: TargetSpec) -> JsonObject:
    return {"prompt": spec.template.text} if spec.template else {}


def _model(spec: TargetSpec) -> JsonObject:
    """The identity of a judge, except its template."""
    replies: JsonObject = {"replies_sha256": spec.replies_sha256} if spec.replies_sha256 else {}
    return {**_sampled(spec), **replies}


def _sampled(spec: TargetSpec) -> JsonObject:
    """The identity of a target; its program may be fixed before the run is resumed."""
    return {"model": spec.model, **spec.sampling}
