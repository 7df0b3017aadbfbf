"""Read a run that has not ended from the store: what there is so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from steelyard.contracts.run_artifacts.facts import read_facts
from steelyard.engine.metrics import metrics_of
from steelyard.model.json_value import JsonObject
from steelyard.model.run import StoredRun
from steelyard.reports.run_text import RunView
from steelyard.usecases.held import STOPPED, is_resumable
from steelyard.usecases.run_ports import RunRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedRun:
    """A run as far as it has come."""

    view: RunView
    selected: int | None
    """How many records it is about."""
    is_resumable: bool

    @property
    def said(self) -> str:
        """How far it has come, and how to go on."""
        metrics, run_id = self.view.metrics, self.view.run_id
        done = f"{metrics['total_records']:,}"
        of = "" if self.selected is None else f" of {self.selected:,}"
        standing = STOPPED if self.is_resumable else str(self.view.manifest["status"])
        resume = f"; go on with: steelyard resume {run_id}" if self.is_resumable else ""
        return f"not finished: {standing}; {done}{of} record(s) so far{resume}"


def read_unfinished(
    repository: RunRepository, run: StoredRun, is_alive: Callable[[str], bool]
) -> UnfinishedRun:
    """The results that are kept of a run, with the metrics over them."""
    metrics, slices = metrics_of(read_facts(kept.facts) for kept in repository.results(run.run_id))
    metrics["interrupted_calls"] = repository.interrupted_calls(run.run_id)
    manifest: JsonObject = {
        "run_id": run.run_id,
        "status": run.status,
        "created_at": run.created_at,
        "completed_at": None,
        "states": [{"state": state, "at": at} for state, at in repository.state_times(run.run_id)],
        **cast(JsonObject, run.plan["about"]),
    }
    return UnfinishedRun(
        view=RunView(manifest=manifest, metrics=metrics, slices=slices, folder=""),
        selected=cast("int | None", run.plan.get("selected")),
        is_resumable=is_resumable(run, is_alive),
    )
