"""Start a run, or go on with one that was stopped."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from steelyard.engine.records import RecordLoop, Surroundings
from steelyard.engine.redaction import Redactor
from steelyard.engine.states import is_terminal
from steelyard.errors import RunError, UsageError
from steelyard.formats.encoding import without_surrogates
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.run import Result, RunState, StoredRun
from steelyard.usecases.finalize import finalize, require_same_records, require_same_source
from steelyard.usecases.planning import Prepared, prepare
from steelyard.usecases.run_options import stored_options
from steelyard.usecases.run_ports import RunDoor
from steelyard.usecases.work import work_items

OnResult = Callable[[Result], None]
_BEFORE_RUNNING: dict[RunState, tuple[RunState, ...]] = {
    "queued": ("validating", "running"),
    "validating": ("running",),
}
_FIXED = {
    "source": "the dataset",
    "shown": "a file that the dataset shows",
    "responses": "the response file",
    "rubric": "the rubric",
    "models": "a target's model or sampling",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """What a run came to."""

    run_id: str
    status: RunState
    folder: str
    metrics: JsonObject


async def start_run(
    door: RunDoor, prepared: Prepared, on_start: Callable[[str], None], on_result: OnResult
) -> FinishedRun:
    """Make a run and carry it through to its artifacts."""
    run = StoredRun(
        run_id=door.new_run_id(),
        status="queued",
        created_at=_now(door),
        dataset=without_surrogates(prepared.dataset.id),
        target=next(iter(prepared.specs)) if len(prepared.specs) == 1 else None,
        group_id=prepared.options.group_id,
        owner=door.owner,
        plan=_plan(door, prepared),
    )
    door.repository.create(run)
    on_start(run.run_id)
    try:
        return await _carry_out(door, run, prepared, on_result, is_resumed=False)
    finally:
        await _close(prepared)


async def resume_run(door: RunDoor, run: StoredRun, on_result: OnResult) -> FinishedRun:
    """Go on with a run; its source must be the one it began with."""
    if is_terminal(run.status):
        folder = str(door.artifacts(run.run_id).folder)
        return FinishedRun(
            run_id=run.run_id, status=run.status, folder=folder, metrics=run.summary or {}
        )
    if run.owner and run.owner != door.owner and door.is_alive(run.owner):
        raise UsageError(f"{run.run_id} is being worked on by another process ({run.owner})")
    prepared = prepare(door, stored_options(run.plan, run.group_id))
    try:
        _require_unchanged(run, _plan(door, prepared))
        if not door.repository.claim(run, door.owner):
            raise UsageError(f"{run.run_id} was taken over by another process just now")
        return await _carry_out(door, run, prepared, on_result, is_resumed=True)
    finally:
        await _close(prepared)


def _require_unchanged(run: StoredRun, plan: JsonObject) -> None:
    """Results of two different questions must not stand in one run."""
    for key, what in _FIXED.items():
        if plan[key] != run.plan[key]:
            raise RunError(
                f"{what} of {run.run_id} has changed since it began; start a new run, "
                "or put the old one back"
            )


async def _carry_out(
    door: RunDoor, run: StoredRun, prepared: Prepared, on_result: OnResult, *, is_resumed: bool
) -> FinishedRun:
    """All that is left to do, from any state on."""
    run_id, status = run.run_id, run.status
    try:
        for state in _BEFORE_RUNNING.get(status, ()):
            door.repository.move(run_id, state, _now(door))
        if status != "finalizing":
            await _evaluate(door, run_id, prepared, on_result, status)
            require_same_source(door, run_id, prepared)
            if is_resumed:
                require_same_records(door, run_id, prepared)
            door.repository.move(run_id, "finalizing", _now(door))
        final, metrics, folder = finalize(door, run_id, prepared, _redactor(prepared))
        return FinishedRun(run_id=run_id, status=final, folder=folder, metrics=metrics)
    except BaseException:
        # Another process may go on at once, even if this one lives on.
        with suppress(RunError):
            door.repository.release(run_id)
        raise


async def _close(prepared: Prepared) -> None:
    for spec in prepared.specs.values():
        await spec.target.close()


async def _evaluate(
    door: RunDoor, run_id: str, prepared: Prepared, on_result: OnResult, status: RunState
) -> None:
    done = Done(door.repository.done(run_id), prepared.options.repeat)
    source = work_items(prepared, done.has, door.repository.tried(run_id))
    ledger = door.ledger(run_id, _redactor(prepared), lambda: _now(door))
    around = Surroundings(
        targets={name: spec.target for name, spec in prepared.specs.items()},
        ledger=ledger,
        clock=door.clock,
        retry=prepared.retry,
        chance=random.Random(run_id),  # noqa: S311 - jitter, no secret
        prices={n: spec.price for n, spec in prepared.specs.items() if spec.price},
        limits=prepared.limits,
        on_result=on_result,
    )
    try:
        await RecordLoop(source, around, status).run(prepared.concurrency)
    finally:
        await asyncio.shield(ledger.close())


def _redactor(prepared: Prepared) -> Redactor:
    return Redactor(secret for spec in prepared.specs.values() for secret in spec.secrets)


class Done:
    """Which (index, repeat) have a result: one byte each."""

    def __init__(self, found: Iterator[tuple[int, int]], repeats: int) -> None:
        self._repeats = repeats
        self._marks = bytearray()
        for index, repeat in found:
            place = index * repeats + repeat
            self._marks.extend(bytes(max(0, place + 1 - len(self._marks))))
            self._marks[place] = 1

    def has(self, index: int, repeat: int) -> bool:
        """Whether this record and repeat needs nothing more."""
        place = index * self._repeats + repeat
        return place < len(self._marks) and bool(self._marks[place])


def _plan(door: RunDoor, prepared: Prepared) -> JsonObject:
    """What is kept with a run, so that it can go on after any stop."""
    options, rubric, specs = prepared.options, prepared.rubric, prepared.specs
    source: dict[str, JsonValue] = dict(prepared.source)
    return {
        "options": options.stored(),
        "contract": prepared.contract,
        "source": source,
        "shown": prepared.shown,
        "responses": door.digest(door.root / options.responses) if options.responses else None,
        "rubric": {"name": rubric.name, "sha256": rubric.sha256} if rubric else None,
        "models": {name: {"model": spec.model, **spec.sampling} for name, spec in specs.items()},
        "targets": {name: spec.target.described() for name, spec in specs.items()},
    }


def _now(door: RunDoor) -> str:
    return door.clock.now().isoformat(timespec="milliseconds")
