"""Judge a trace set: a run over its traces, in which no target is called."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.execution.run_options import RunOptions
from steelyard.execution.worker_thread import in_thread
from steelyard.model.audit import Caller
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.datasets.project_paths import project_path
from steelyard.usecases.runs.execute import create_run
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.traces.freeze_traces import CONVERSATION, FrozenTraces, freeze_traces
from steelyard.usecases.traces.ports import TracePorts


class JudgedTraces(NamedTuple):
    """The run that grades a trace set, and what it grades."""

    run: StoredRun
    frozen: FrozenTraces


async def judge_traces(
    traces: TracePorts,
    runs: RunPorts,
    name: str,
    rubric: str,
    *,
    judge: str | None = None,
    caller: Caller | None = None,
) -> JudgedTraces:
    """Queue a run that grades the traces that a set has now with a rubric.

    Traces of one conversation are one piece of evidence, where all traces say theirs.
    """
    frozen = await in_thread(lambda: freeze_traces(traces, name))
    options = RunOptions(
        dataset=project_path(runs.root, frozen.dataset),
        responses=project_path(runs.root, frozen.responses),
        candidate=name,
        rubric=rubric,
        judge=judge,
        cluster=CONVERSATION if frozen.are_grouped else None,
    )
    run = await create_run(runs, options, in_place=True, caller=caller)
    return JudgedTraces(run, frozen)
