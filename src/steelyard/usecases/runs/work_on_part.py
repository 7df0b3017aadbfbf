"""The work of one worker process; it imports nothing that only the holder of a run needs."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.execution.evaluating import evaluate_records
from steelyard.execution.parts import Part
from steelyard.execution.run_options import stored_options
from steelyard.model.run import Result
from steelyard.results.stored_run import require_plan
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import prepare_part


async def work_on_part(ports: RunPorts, run_id: str, part: Part, targets: Sequence[str]) -> None:
    """What a worker process does: its part of a run that another process holds."""
    run = ports.repository.find(run_id)
    ports = ports.of_run(run)
    plan = require_plan(run)
    options = stored_options(plan.options, run.group_id)
    judges = list(plan.judges.targets) if plan.judges else []
    prepared = prepare_part(ports, options, targets, part, judges, is_sound=plan.is_sound)
    try:
        await evaluate_records(ports, run_id, prepared, _nobody, "running")
    finally:
        await prepared.close()


def _nobody(_result: Result) -> None:
    """Ignore progress: the holder of the run reports it."""
