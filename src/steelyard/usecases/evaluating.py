"""The records of a run, or of a part of it, from the first question to the last grade."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from steelyard.contracts.legal_eval.policies import Policies
from steelyard.contracts.legal_eval.prompting import policy_messages
from steelyard.engine.budget import CANCEL, Budget, Stop, deadline_stop
from steelyard.engine.phase import Phase
from steelyard.engine.prompts import build_prompt
from steelyard.engine.records import RecordLoop, Surroundings
from steelyard.engine.redaction import Redactor
from steelyard.model.case import Case
from steelyard.model.run import Result, RunState
from steelyard.ports import Prompt
from steelyard.usecases.planning import Prepared
from steelyard.usecases.run_ports import RunDoor
from steelyard.usecases.work import asked, shares, work_items

OnResult: TypeAlias = Callable[[Result], None]
OnPhase: TypeAlias = Callable[[RunState], Awaitable[None]]
_log = logging.getLogger("steelyard")


async def evaluate_records(
    door: RunDoor,
    run_id: str,
    prepared: Prepared,
    on_result: OnResult,
    status: RunState,
    *,
    on_phase: OnPhase | None = None,
) -> None:
    """Ask and grade every record that has no result yet, in this process.

    Whether the run is retrying is kept, unless somebody else wants to be told of it.
    """
    ledger = door.ledger(run_id, redactor_of(prepared), lambda: now_text(door))
    around = Surroundings(
        ledger=ledger,
        clock=door.clock,
        retry=prepared.retry,
        chance=random.Random(run_id),  # noqa: S311 - jitter, no secret
        on_result=on_result,
        prompt=partial(_prompt, door.policies),
        # A part of the budget has its part in what the whole run has spent before.
        budget=Budget(
            prepared.limits.budget_usd, door.repository.spent_usd(run_id) / prepared.part.of
        ),
    )
    around.budget.on_stop(_tell)
    phase = Phase(status, on_phase or ledger.move)
    done = Done(door.repository.done(run_id), prepared.options.repeat)
    tried = door.repository.tried(run_id)
    loops = {
        share.target: RecordLoop(
            work_items(prepared, share, done.has, tried),
            asked(door, run_id, spec, is_shared=prepared.options.cache),
            around,
            phase,
        )
        for share, spec in shares(prepared)
    }
    try:
        with _stoppable(door, run_id, prepared, loops.values()):
            await _all(loop.run(prepared.concurrency_of(name)) for name, loop in loops.items())
    finally:
        await asyncio.shield(ledger.close())


async def _all(running: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Every loop to its end; when one cannot go on, none does."""
    tasks = [asyncio.ensure_future(one) for one in running]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def _stoppable(
    door: RunDoor, run_id: str, prepared: Prepared, loops: Iterable[RecordLoop]
) -> Generator[None]:
    """While the loops run, a deadline or somebody's word ends them."""
    running = asyncio.get_running_loop()

    def stop(why: Stop) -> None:
        for loop in loops:
            loop.stop(why)

    def late(why: Stop) -> None:
        _tell(why)
        stop(why)

    def cancel() -> None:
        with suppress(RuntimeError):  # the run was over first
            running.call_soon_threadsafe(stop, CANCEL)

    door.repository.on_cancel(run_id, cancel)
    if door.repository.is_cancelling(run_id):
        stop(CANCEL)  # before the first call, and not when the lease looks next
    seconds = prepared.limits.deadline_s
    timer = None
    if seconds is not None:
        timer = running.call_later(seconds, late, deadline_stop(seconds))
    try:
        yield
    finally:
        if timer:
            timer.cancel()


def _tell(why: Stop) -> None:
    _log.warning("%s; the records that are left are kept as cancelled", why.message)


def _prompt(policies: Policies, case: Case) -> Prompt:
    """What a target is asked: a case with a type of task by its policy, others as they stand."""
    if case.task_type is None:
        return build_prompt(case)
    messages = policy_messages(case, policies.of(case))
    return build_prompt(replace(case, input_messages=messages, context=""))


def redactor_of(prepared: Prepared) -> Redactor:
    """What keeps secrets of targets and personal data out of everything that is written."""
    used = (secret for spec in prepared.specs.values() for secret in spec.secrets)
    return Redactor((*prepared.secrets, *used), prepared.redacted)


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


def now_text(door: RunDoor) -> str:
    """The time as it is kept."""
    return door.clock.now().isoformat(timespec="milliseconds")
