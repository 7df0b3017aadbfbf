"""Evaluates the records of a run, or of a part of it."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, cast

from steelyard.engine.budget import CANCEL, Budget, Stop, deadline_stop
from steelyard.engine.phase import Phase
from steelyard.engine.prefix_order import by_prefix
from steelyard.engine.record_work import EngineContext, Ledger
from steelyard.engine.records import RecordLoop
from steelyard.engine.redaction.redactor import Redactor
from steelyard.engine.sharing.messages import News
from steelyard.errors import TargetStoppedError
from steelyard.execution.judging import RunJudges, Shared, run_judges
from steelyard.execution.parts import Coordinator
from steelyard.execution.ports import ExecutionPorts
from steelyard.execution.prepared import Prepared
from steelyard.execution.prompting import prompt_of
from steelyard.execution.work import Limiters, asked, shares, work_items
from steelyard.execution.worker_thread import in_thread
from steelyard.formats.root_paths import text_from
from steelyard.model.run import Result, RunState
from steelyard.ports import Warn, warn_both

OnResult: TypeAlias = Callable[[Result], None]


async def evaluate_records(
    ports: ExecutionPorts,
    run_id: str,
    prepared: Prepared,
    on_result: OnResult,
    status: RunState,
) -> None:
    """Evaluate every record without a result, in this process."""
    done = await in_thread(lambda: Done(ports.repository.done(run_id), prepared.options.repeat))
    tried = await in_thread(lambda: ports.repository.tried(run_id))
    ledger, root = ports.ledger(run_id, redactor_of(prepared), ports.clock.stamp), ports.root

    def warn(message: str) -> None:
        ledger.warn(text_from(root, message))

    ports = replace(ports, warn=warn_both(warn, ports.warn))
    around = _surroundings(ports, run_id, prepared, ledger, on_result)
    around.budget.on_stop(partial(_warn_stop, ports.warn))
    phase = Phase(status, ledger.move)
    limiters = _limiters(ports, run_id, prepared)
    _listen(prepared.part.coordinator, limiters)
    judges = run_judges(ports, run_id, prepared, Shared(around, phase, limiters))
    if judges:
        around = replace(around, judges=judges.records)
    answered = judges.answered if judges else {}
    loops = {
        share.target: RecordLoop(
            by_prefix(
                work_items(
                    prepared,
                    share,
                    done.has,
                    tried,
                    answered,
                    prompt=partial(
                        prompt_of,
                        ports.policies,
                        spec.template,
                        carries=spec.carries if spec.omits else None,
                    ),
                ),
                prepared.concurrency_of(share.target),
            ),
            asked(ports, run_id, spec, limiters.of(spec), prepared),
            around,
            phase,
        )
        for share, spec in shares(prepared)
    }
    ports.watch(lambda: limiters.activity(loops.values()))
    stopped: list[TargetStoppedError] = []
    running = (
        _to_its_end(loop.run(prepared.concurrency_of(name)), stopped)
        for name, loop in loops.items()
    )
    try:
        loops_and_judges = [*loops.values(), *([judges] if judges else [])]
        async with _stoppable(ports, run_id, prepared, loops_and_judges, phase):
            await (_beside(judges, running) if judges else all_to_their_end(running))
    finally:
        if judges:
            judges.end()
        limiters.close()
        await asyncio.shield(ledger.close())
    if stopped:
        why = "; ".join(map(str, stopped))
        raise TargetStoppedError(f"{why}. Resume it with: steelyard resume {run_id}")


async def _to_its_end(
    running: Coroutine[Any, Any, None], stopped: list[TargetStoppedError]
) -> None:
    """One loop; a stopped target does not stop the others."""
    try:
        await running
    except TargetStoppedError as error:
        stopped.append(error)


async def probe_judges(
    ports: ExecutionPorts, run_id: str, prepared: Prepared, on_result: OnResult, status: RunState
) -> None:
    """Probe the endpoints of judges, before the records are divided among processes."""
    if not prepared.judge_specs:
        return
    ledger = ports.ledger(run_id, redactor_of(prepared), ports.clock.stamp)
    around = _surroundings(ports, run_id, prepared, ledger, on_result)
    phase = Phase(status, ledger.move)
    shared = Shared(around, phase, _limiters(ports, run_id, prepared))
    judges = cast(RunJudges, run_judges(ports, run_id, prepared, shared))
    try:
        async with _stoppable(ports, run_id, prepared, [judges], phase):
            await judges.probe()
    finally:
        judges.end()
        await asyncio.shield(ledger.close())


def _limiters(ports: ExecutionPorts, run_id: str, prepared: Prepared) -> Limiters:
    return Limiters(
        ports.clock,
        partial(ports.repository.has_answered, run_id),
        prepared.limits.outage_s,
        ports.warn,
        coordinator=prepared.part.coordinator,
        keys={id(spec.target): name for name, spec in prepared.limited()},
    )


def _listen(coordinator: Coordinator | None, limiters: Limiters) -> None:
    """Let the limits hear what is new about them."""
    running = asyncio.get_running_loop()

    def hear(news: News) -> None:
        with suppress(RuntimeError):  # the run finished first
            running.call_soon_threadsafe(limiters.hear, news)

    if coordinator:
        coordinator.on_news(hear)


def _surroundings(
    ports: ExecutionPorts, run_id: str, prepared: Prepared, ledger: Ledger, on_result: OnResult
) -> EngineContext:
    return EngineContext(
        ledger=ledger,
        clock=ports.clock,
        retry=prepared.retry,
        chance=random.Random(run_id),  # noqa: S311 - jitter, no secret
        on_result=on_result,
        budget=_budget(ports, run_id, prepared),
        deadline=_deadline(ports, prepared),
    )


async def _beside(judges: RunJudges, running: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run the loops and the judging of their answers to the end."""
    await judges.probe()

    async def ask() -> None:
        await all_to_their_end(running)
        judges.records.close()

    await all_to_their_end((ask(), judges.records.run()))


async def all_to_their_end(running: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run every loop to the end; if one fails, stop all."""
    tasks = [asyncio.ensure_future(one) for one in running]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            # Let a cancelled loop finish: it still logs its interrupted calls.
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _stoppable(
    ports: ExecutionPorts,
    run_id: str,
    prepared: Prepared,
    loops: Iterable[RecordLoop | RunJudges],
    phase: Phase,
) -> AsyncGenerator[None]:
    """Stop the loops at the deadline or on a cancel request."""
    running = asyncio.get_running_loop()
    moves: list[asyncio.Future[None]] = []

    def stop(why: Stop) -> None:
        for loop in loops:
            loop.stop(why)

    async def late(seconds: float) -> None:
        await ports.clock.sleep(seconds)
        why = deadline_stop(seconds)
        _warn_stop(ports.warn, why)
        stop(why)

    def cancel() -> None:
        stop(CANCEL)
        moves.append(asyncio.ensure_future(phase.stop()))

    def on_cancel() -> None:
        with suppress(RuntimeError):  # the run finished first
            running.call_soon_threadsafe(cancel)

    ports.on_cancel(run_id, on_cancel)
    if ports.repository.is_cancelling(run_id):
        cancel()  # check before the first call, not at the next renewal of the lease
    seconds = prepared.limits.deadline_s
    timer = None if seconds is None else asyncio.ensure_future(late(seconds))
    try:
        yield
    finally:
        if timer:
            timer.cancel()
        # A store that refuses this refuses the results of the loops too, who raise its error.
        await asyncio.gather(*moves, return_exceptions=True)


def _budget(ports: ExecutionPorts, run_id: str, prepared: Prepared) -> Budget:
    """The budget of the run, or what its holder grants of it."""
    limit, coordinator = prepared.limits.budget_usd, prepared.part.coordinator
    is_own = prepared.options.budget_usd is not None
    named = "budget_usd of this run alone" if is_own else "limits.budget_usd"
    if coordinator is None or limit is None:
        return Budget(limit, spent_usd(ports, run_id), named=named)
    return Budget(limit, more=coordinator.grant_usd, named=named)


def spent_usd(ports: ExecutionPorts, run_id: str) -> float:
    """The cost of all calls of a run, including those without a result."""
    return ports.repository.spent_usd(run_id) + ports.judgements.spent_usd(run_id)


def _deadline(ports: ExecutionPorts, prepared: Prepared) -> float:
    """The deadline of the run, in the clock's monotonic time."""
    seconds = prepared.limits.deadline_s
    return math.inf if seconds is None else ports.clock.monotonic() + seconds


def _warn_stop(warn: Warn, why: Stop) -> None:
    warn(f"{why.message}; the records that are left are kept as cancelled")


def redactor_of(prepared: Prepared) -> Redactor:
    """The redactor for secrets of targets and personal data."""
    specs = (*prepared.specs.values(), *prepared.judge_specs.values())
    used = (secret for spec in specs for secret in spec.secrets)
    return Redactor.by(prepared.redacted, (*prepared.secrets, *used))


class Done:
    """The (index, repeat) pairs with a result, one byte each."""

    def __init__(self, found: Iterator[tuple[int, int]], repeats: int) -> None:
        self._repeats = repeats
        self._marks = bytearray()
        for index, repeat in found:
            place = index * repeats + repeat
            self._marks.extend(bytes(max(0, place + 1 - len(self._marks))))
            self._marks[place] = 1

    def has(self, index: int, repeat: int) -> bool:
        """Whether this record and repeat has a result."""
        place = index * self._repeats + repeat
        return place < len(self._marks) and bool(self._marks[place])
