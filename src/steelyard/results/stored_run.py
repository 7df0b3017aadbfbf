"""A run as the store knows it."""

from __future__ import annotations

from steelyard.errors import GoneError
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.run import RunState
from steelyard.results.plan import Plan


class StoredRun(FrozenStruct, frozen=True, kw_only=True):
    """A run as the store knows it."""

    run_id: str
    status: RunState
    created_at: str
    dataset: str
    plan: Plan | None
    """None where the run was pruned."""
    target: str | None = None
    group_id: str | None = None
    owner: str | None = None
    fence: int = 1
    """How often the run has been claimed; a write that carries an older number is refused. 0 for
    one that waits in the queue."""
    lease_left_s: float | None = None
    """How long its owner may still rest before another process may take the run over."""
    is_cancelling: bool = False
    """Whether somebody has asked for it to be cancelled."""
    is_queued: bool = False
    """Whether the next worker that is free executes it, also after its process has stopped."""
    summary: JsonObject | None = None

    def json(self) -> JsonObject:
        """Its row in lists of runs."""
        return {
            "run_id": self.run_id,
            "status": self.status,
            "created_at": self.created_at,
            "dataset": self.dataset,
            "target": self.target,
            "group": self.group_id,
            "metrics": self.summary,
        }


def require_plan(run: StoredRun) -> Plan:
    """The plan of a run that was not pruned."""
    if run.plan is None:
        raise GoneError(f"{run.run_id} was pruned; only its line in `steelyard runs` is left")
    return run.plan
