"""Regrade a run's traces with the previous and the new version, to find changed scores."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from steelyard.engine.verdict_changes import shift_of
from steelyard.errors import InvalidError, argument
from steelyard.execution.evaluating import OnResult
from steelyard.execution.prepared import Prepared
from steelyard.execution.run_options import RunOptions
from steelyard.model.audit import Caller
from steelyard.model.definition import Definition, reference_to
from steelyard.model.judge import Judge
from steelyard.model.published import compared_version
from steelyard.model.reference import Reference
from steelyard.reports.publication import MeasuredShift
from steelyard.results.manifest import Manifest
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.projections import read_graded
from steelyard.usecases.datasets.project_paths import project_path
from steelyard.usecases.registry.publish import PublicationPlan
from steelyard.usecases.registry.references import Definitions, References
from steelyard.usecases.registry.resolution import Found
from steelyard.usecases.results.read_run import decoded_rows, read_run
from steelyard.usecases.runs.derived_runs import regrade_options
from steelyard.usecases.runs.execute import start_run
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import prepare

DoorWith = Callable[["Definition | None"], RunPorts]
"""The ports of runs in which one judge replaces all its versions; unchanged without one."""


class TrialSide(NamedTuple):
    """One of the two gradings."""

    name: str
    ports: RunPorts
    prepared: Prepared


class Trial(NamedTuple):
    """Two planned gradings."""

    run_id: str
    old: TrialSide
    new: TrialSide


def plan_trial(ports_with: DoorWith, plan: PublicationPlan, folder: Path) -> Trial:
    """Check that both versions can grade the traces of a run."""
    definition = plan.definition
    if definition is None or definition.content is None:
        raise InvalidError(f"{plan.reference} has no file to test; it is published already")
    manifest = read_run(folder).manifest
    run_id = manifest.run_id
    old = _old(plan, manifest)
    if isinstance(definition.content, Judge):
        both_ports = _judge_ports(ports_with, definition, old)
        options = regrade_options(folder, manifest.setup.options.rubric)
        both = (options, options)
        _require_asked(manifest, definition.content, run_id)
    else:
        ports = ports_with(None)
        both_ports = (ports, ports)
        is_file = definition.data is None
        path = str(project_path(ports.root, Path(definition.path)))
        new = path if is_file else plan.reference
        both = (regrade_options(folder, old), regrade_options(folder, new))
    group_id = both_ports[0].new_run_id().replace("run_", "group_")
    sides = [
        TrialSide(name, ports, prepare(ports, _alone(options, group_id)))
        for name, ports, options in zip((old, plan.reference), both_ports, both, strict=True)
    ]
    return Trial(run_id, *sides)


async def measure_shift(
    trial: Trial,
    on_start: Callable[[str], None],
    on_result: OnResult,
    *,
    caller: Caller | None = None,
) -> MeasuredShift:
    """Execute both gradings as separate runs, and compare them pair by pair."""
    finished = [
        await start_run(side.ports, side.prepared, on_start, on_result, caller=caller)
        for side in (trial.old, trial.new)
    ]
    old, new = (decoded_rows(Path(run.folder), PREDICTIONS, read_graded) for run in finished)
    return MeasuredShift(
        run_id=trial.run_id,
        old=trial.old.name,
        new=trial.new.name,
        old_run=finished[0].run_id,
        new_run=finished[1].run_id,
        shift=shift_of(old, new),
    )


class InsteadOf(References):
    """The references of a project, in which one judge replaces all its versions."""

    def __init__(self, definitions: Definitions, now: datetime, judge: Definition) -> None:
        super().__init__(definitions, now)
        self._judge = judge

    def find(self, reference: Reference) -> Found:
        """The judge for its id; everything else unchanged."""
        content = self._judge.content
        if content and reference.kind == "judge" and reference.id == reference_to(content).id:
            return Found(definition=self._judge)
        return super().find(reference)


def _old(plan: PublicationPlan, manifest: Manifest) -> str:
    """The version to compare with: a published one, else the one that the run used."""
    if plan.previous:
        return plan.previous.reference
    assert plan.proposed
    used = list(_used(manifest, plan.proposed.kind))
    same = [one for one in used if one.id == plan.proposed.id and one.version]
    if plan.proposed.version is None:
        asked = [one for one in used if one.version is None]
        if len(asked) == 1:
            return str(asked[0])
    elif same:
        below = compared_version(
            plan.proposed.version, [one.version for one in same if one.version]
        )
        if below:
            return str(next(one for one in same if one.version == below))
    raise InvalidError(
        f"there is no earlier version of {plan.reference} to compare with: none is published, and "
        f"{manifest.run_id} used none; publish without {argument('against')}"
    )


def _used(manifest: Manifest, kind: str) -> list[Reference]:
    names = (
        [one.rubric for one in manifest.setup.rubrics]
        if kind == "rubric"
        else [one.judge for one in manifest.judges or ()]
    )
    return [reference for name in names if (reference := Reference.parse(name))]


def _require_asked(manifest: Manifest, judge: Judge, run_id: str) -> None:
    if not any(reference.id == judge.id for reference in _used(manifest, "judge")):
        raise InvalidError(
            f"{run_id} did not ask judge/{judge.id}: its traces say nothing about it"
        )


def _judge_ports(ports_with: DoorWith, new: Definition, old: str) -> tuple[RunPorts, RunPorts]:
    reference = Reference.parse(old)
    assert reference
    found = ports_with(None).references.find(reference)
    if found.definition is None:
        raise InvalidError(found.problems[0].message)
    return ports_with(found.definition), ports_with(new)


def _alone(options: RunOptions, group_id: str) -> RunOptions:
    """In this process: another one would not know what stands for what."""
    return structs.replace(options, workers=1, group_id=group_id, gates={})
