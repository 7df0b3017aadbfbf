"""The run on whose responses people review a trace set."""

from __future__ import annotations

from steelyard.execution.run_options import RunOptions
from steelyard.execution.worker_thread import in_thread
from steelyard.model.audit import Caller
from steelyard.model.labels.queue import QueueSource
from steelyard.model.run import Result
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.datasets.project_paths import project_path
from steelyard.usecases.review.queues.run_traces import UNGRADED
from steelyard.usecases.runs.execute import start_run
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import open_source, prepare_source
from steelyard.usecases.traces.assembled_traces import show_trace_set
from steelyard.usecases.traces.freeze_traces import CONVERSATION, freeze_traces
from steelyard.usecases.traces.ports import TracePorts

_LOOKED_AT = 200
"""So many runs, from the newest on, may hold the same traces."""
_FINISHED = frozenset(("completed", "completed_with_failures"))


async def reviewed_run(
    traces: TracePorts, runs: RunPorts, name: str, *, caller: Caller | None = None
) -> QueueSource:
    """The newest run over the traces that a set has now; without one, a run that grades nothing.

    Traces that arrive later are not in it.
    """
    show_trace_set(traces, name)
    frozen = await in_thread(lambda: freeze_traces(traces, name))
    options = RunOptions(
        dataset=project_path(runs.root, frozen.dataset),
        responses=project_path(runs.root, frozen.responses),
        candidate=name,
        cluster=CONVERSATION if frozen.are_grouped else None,
    )
    known = runs.repository.list(_LOOKED_AT)
    same = next((one for one in known if _has_traces(one, options)), None)
    if same is not None:
        return QueueSource(kind="run", id=same.run_id)
    ports = runs.gathering()
    source = open_source(ports, options)
    prepared = await in_thread(lambda: prepare_source(ports, options, source, UNGRADED, {}))
    made = await start_run(runs, prepared, _unnoted, _unseen, caller=caller)
    return QueueSource(kind="run", id=made.run_id)


def _has_traces(run: StoredRun, options: RunOptions) -> bool:
    """Whether a finished run holds these traces, whatever graded them."""
    found = run.plan.options if run.plan else None
    return (
        found is not None
        and run.status in _FINISHED
        and (found.dataset, found.responses) == (options.dataset, options.responses)
        and not found.derived
    )


def _unnoted(run_id: str) -> None:
    """Nobody waits to hear that the run has begun."""


def _unseen(result: Result) -> None:
    """Nor of each of its results."""
