"""Read a run that has not ended from the store: what there is so far."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeAlias, cast

import msgspec
from msgspec import structs

from steelyard.contracts.run_artifacts.facts import read_facts
from steelyard.contracts.run_artifacts.requests import whole_request
from steelyard.engine.metrics import metrics_of
from steelyard.errors import NotFoundError
from steelyard.execution.ports import RunRepository
from steelyard.execution.uncounted import uncounted_calls
from steelyard.model.json_value import JsonObject
from steelyard.model.run import StoredRun
from steelyard.reports.run_text import RunView
from steelyard.results.json_struct import from_json
from steelyard.results.manifest import Manifest, RunSetup, StateTime
from steelyard.usecases.results.find_run import find_run, run_folder
from steelyard.usecases.results.ports import ResultPorts
from steelyard.usecases.results.read_run import RecordView, is_run_folder, read_record
from steelyard.usecases.runs.held import STOPPED, is_resumable

IsAlive: TypeAlias = Callable[[str], bool]
"""Whether the process that an owner names still runs on this host."""
_SEALED = ("completed", "completed_with_failures", "cancelled")


class _Place(msgspec.Struct):
    """Which record a row is about."""

    index: int | None
    record_id: str | None


_read_place = msgspec.json.Decoder(_Place).decode


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
        done = f"{metrics.total_records:,}"
        of = "" if self.selected is None else f" of {self.selected:,}"
        standing = STOPPED if self.is_resumable else self.view.manifest.status
        resume = f"; go on with: steelyard resume {run_id}" if self.is_resumable else ""
        return f"not finished: {standing}; {done}{of} record(s) so far{resume}"


def read_unfinished_record(repository: RunRepository, run_id: str, record: str) -> RecordView:
    """What is kept of a record, by its id, or else by its index; it may have no result yet."""
    kept = (row.prediction for row in repository.results(run_id))
    places = map(_read_place, chain(kept, repository.attempt_rows(run_id)))
    known = {(place.index, place.record_id) for place in places if place.index is not None}
    found = {index for index, name in known if name == record} or {
        index for index, _ in known if str(index) == record
    }
    if not found:
        raise NotFoundError(
            f"no record '{record}' in what {run_id} has kept so far; it is not finished"
        )
    rows: list[JsonObject] = []
    attempts: list[JsonObject] = []
    failures: dict[tuple[int, int], JsonObject] = {}
    for index in sorted(found):
        for kept in repository.results(run_id, index, index + 1):
            rows.append(json.loads(kept.prediction))
            if kept.failure:
                failures[index, kept.repeat] = json.loads(kept.failure)
        attempts += map(json.loads, repository.attempt_rows(run_id, index, index + 1))
    return RecordView(_whole(repository, run_id, rows), attempts, failures)


def _whole(repository: RunRepository, run_id: str, rows: list[JsonObject]) -> list[JsonObject]:
    """Predictions with what was asked in full."""
    parts = {sha256: json.loads(text) for sha256, text in repository.request_parts(run_id)}
    for row in rows:
        if row["request"]:
            row["request"] = whole_request(cast(JsonObject, row["request"]), parts.__getitem__)
    return rows


def _failures(repository: RunRepository, run_id: str) -> Iterator[JsonObject]:
    kept = (row.failure for row in repository.results(run_id))
    return (json.loads(failure) for failure in kept if failure)


def read_unfinished(repository: RunRepository, run: StoredRun, is_alive: IsAlive) -> UnfinishedRun:
    """The results that are kept of a run, with the metrics over them."""
    metrics, slices = metrics_of(read_facts(kept.facts) for kept in repository.results(run.run_id))
    metrics = structs.replace(metrics, **uncounted_calls(repository, run.run_id))
    manifest = Manifest(
        run_id=run.run_id,
        status=run.status,
        created_at=run.created_at,
        completed_at=None,
        states=tuple(
            StateTime(state=state, at=at) for state, at in repository.state_times(run.run_id)
        ),
        setup=from_json(run.plan["about"], RunSetup),
    )
    return UnfinishedRun(
        view=RunView(
            manifest=manifest,
            metrics=metrics,
            slices=slices,
            folder="",
            failures=lambda: _failures(repository, run.run_id),
        ),
        selected=cast("int | None", run.plan.get("selected")),
        is_resumable=is_resumable(run, is_alive),
    )


def unfinished_run(
    ports: ResultPorts, repository: Callable[[], RunRepository], name: str, is_alive: IsAlive
) -> UnfinishedRun | None:
    """What there is of a run that has not ended, or that failed; None of any other."""
    run = _unfinished(ports, name)
    return read_unfinished(repository(), run, is_alive) if run else None


def record_of(
    ports: ResultPorts, repository: Callable[[], RunRepository], name: str, record: str
) -> tuple[RecordView, list[JsonObject]]:
    """All about a record of a run, finished or not, with what judges said about it."""
    run = _unfinished(ports, name)
    if run:
        view = read_unfinished_record(repository(), run.run_id, record)
        folder = ports.runs / run.run_id
    else:
        folder = run_folder(ports, name)
        view = read_record(folder, record)
    rows = (*view.rows, *view.attempts)
    indices = dict.fromkeys(cast(int, row["index"]) for row in rows)
    return view, [row for index in indices for row in ports.judgements(folder, index)]


def _unfinished(ports: ResultPorts, name: str) -> StoredRun | None:
    """A run that has not ended, or that failed."""
    if not ports.folder.is_dir():
        return None
    found = find_run(ports, name)
    if isinstance(found, Path):
        return None
    is_sealed = is_run_folder(ports.runs / found.run_id)
    has_ended = is_sealed or found.status in _SEALED or "about" not in found.plan
    return None if has_ended else found
