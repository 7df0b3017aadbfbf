"""Runs the records in several local processes, supervised by the process that holds the run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

from steelyard.engine.circuit import Circuit
from steelyard.engine.phase import Phase
from steelyard.engine.sharing.call_shares import Tell
from steelyard.engine.sharing.messages import News
from steelyard.engine.sharing.run_limits import RunLimits, TargetSizes
from steelyard.errors import RunError
from steelyard.execution.early_sealing import EarlySealing, may_seal_early
from steelyard.execution.evaluating import (
    OnResult,
    all_to_their_end,
    probe_judges,
    redactor_of,
    spent_usd,
)
from steelyard.execution.leases import BudgetGrants, RecordLeases
from steelyard.execution.parts import Part
from steelyard.execution.ports import (
    Answer,
    ExecutionPorts,
    HolderQuestion,
    Register,
    SentBatch,
    TargetSpec,
    Worker,
    WorkerNeeds,
)
from steelyard.execution.prepared import Prepared
from steelyard.execution.worker_thread import in_thread
from steelyard.formats.encoding import without_surrogates
from steelyard.formats.root_paths import text_from
from steelyard.model.run import RecordStatus, Result, RunState
from steelyard.model.verdict import Verdict
from steelyard.ports import Warn, warn_both

STARTS = 3
_NEWS = HolderQuestion("limits")
_GRACE_S = 10.0


def worker_count(prepared: Prepared) -> int:
    """The number of useful processes: each needs a record and a concurrent call."""
    asked = prepared.options.workers
    if asked == 1 or not prepared.paths:
        return 1
    specs = (*prepared.specs.values(), *prepared.judge_specs.values())
    return min(asked, prepared.forecast.total, *(spec.max_concurrency for spec in specs))


def has_workers(ports: ExecutionPorts, prepared: Prepared) -> bool:
    """Whether other processes evaluate the records; those of a dataset in memory cannot."""
    is_alone = worker_count(prepared) <= 1 and not ports.worker_pool.is_remote
    return bool(prepared.paths and prepared.forecast.total) and not is_alone


async def evaluate_in_workers(
    ports: ExecutionPorts, run_id: str, prepared: Prepared, on_result: OnResult, status: RunState
) -> EarlySealing | None:
    """Evaluate every record without a result, in worker processes.

    Returns the artifacts started meanwhile.
    """

    async def move(state: RunState) -> None:
        ports.repository.move(run_id, state, ports.clock.stamp())

    await probe_judges(ports, run_id, prepared, on_result, status)
    count = worker_count(prepared)
    phase = Phase(status, move)
    watches: list[_Watch] = []

    async def on_stop() -> None:
        if all(watch.is_stopped for watch in watches):
            await phase.stop()

    def tell(worker: int, news: News) -> None:
        watches[worker].tell(news)

    register = ports.register(run_id)
    ports = replace(ports, warn=warn_both(_kept_by(register, ports, prepared), ports.warn))
    needs = WorkerNeeds(prepared.resources, prepared.files, ports.warn)
    shares = await in_thread(lambda: _Shares.of(ports, run_id, prepared, count, tell))
    early = EarlySealing(ports, run_id, prepared) if may_seal_early(prepared) else None

    def on_sent(sent: SentBatch) -> None:
        if early:
            early.note(sent.places)
        for record_status, passed in sent.outcomes:
            on_result(_progress_result(record_status, passed))

    watches += (
        _Watch(
            partial(ports.worker_pool.start, run_id, part, list(prepared.specs), needs),
            partial(_settle, register, shares, part),
            register,
            phase,
            _Callbacks(
                on_sent,
                on_stop,
                partial(shares.answer, part.number),
                partial(shares.limits.gone, part.number),
                ports.warn,
            ),
        )
        for part in (Part(number, count) for number in range(count))
    )
    await phase.report(watches[0], is_only_retrying=False)
    try:
        await _watch(ports, run_id, watches)
    except BaseException:
        if early:
            early.give_up()
        raise
    finally:
        shares.limits.close()
        await asyncio.shield(register.close())
    return early


def _kept_by(register: Register, ports: ExecutionPorts, prepared: Prepared) -> Warn:
    """Keep warnings among the events of the run."""
    redact = redactor_of(prepared)

    def keep(message: str) -> None:
        text = redact.text(text_from(ports.root, message))
        register.warn(without_surrogates(text), ports.clock.stamp())

    return keep


class _Shares(NamedTuple):
    """What the workers of a run share, and the answers to their questions."""

    leases: RecordLeases
    grants: BudgetGrants
    limits: RunLimits

    @classmethod
    def of(
        cls, ports: ExecutionPorts, run_id: str, prepared: Prepared, count: int, tell: Tell
    ) -> _Shares:
        """All of it, at the start."""
        budget = prepared.limits.budget_usd
        spent = 0.0 if budget is None else spent_usd(ports, run_id)
        names = {key: spec.name for key, spec in prepared.limited()}

        def new_circuit(target: str, warn: Warn) -> Circuit:
            name = names[target]
            return Circuit(
                ports.clock,
                name,
                prepared.limits.outage_s,
                has_answered=partial(ports.repository.has_answered, run_id, name),
                warn=warn,
            )

        return cls(
            RecordLeases(_leased(prepared), count, _calls_at_once(prepared)),
            BudgetGrants(budget, spent, count),
            RunLimits(
                ports.clock,
                new_circuit,
                {key: _sizes(spec, count) for key, spec in prepared.limited()},
                tell,
            ),
        )

    def answer(self, worker: int, question: HolderQuestion) -> Answer | None:
        """The answer to a worker's question, if it expects one."""
        if question.said:
            self.limits.hear(worker, question.said)
            return None
        if question.kind == "records":
            return self.leases.lease(worker)
        return self.grants.grant(question.usd)


def _sizes(spec: TargetSpec, workers: int) -> TargetSizes:
    return TargetSizes(
        spec.max_concurrency, workers, spec.requests_per_minute, spec.tokens_per_minute
    )


def _leased(prepared: Prepared) -> int:
    """How many records from the first one on belong to the run, or may."""
    forecast, options = prepared.forecast, prepared.options
    is_beginning = not options.where and options.derived is None
    return forecast.total if is_beginning else max(forecast.total, forecast.in_dataset)


def _calls_at_once(prepared: Prepared) -> int:
    return max((spec.max_concurrency for spec in prepared.specs.values()), default=1)


async def _settle(register: Register, shares: _Shares, part: Part) -> None:
    """Log the calls that were in flight when a worker died; its successor gets its records."""
    await register.settle(part.holder(""))
    shares.leases.take_back(part.number)


async def _watch(ports: ExecutionPorts, run_id: str, watches: Sequence[_Watch]) -> None:
    """Run all processes to the end; if one fails, stop all."""
    running = asyncio.get_running_loop()

    def cancel() -> None:
        for watch in watches:
            with suppress(RuntimeError):  # the run finished first
                running.call_soon_threadsafe(watch.cancel)

    ports.on_cancel(run_id, cancel)
    await all_to_their_end(watch.carry(run_id) for watch in watches)


class _Callbacks(NamedTuple):
    """Whom a watch tells what its process has sent."""

    on_sent: Callable[[SentBatch], None]
    on_stop: Callable[[], Awaitable[None]]
    """Its process makes no further call, because the run is cancelled."""
    answer: Callable[[HolderQuestion], Answer | None]
    on_end: Callable[[], None]
    """Its process has ended, however."""
    warn: Warn


class _Watch:
    """Supervises one process; it is restarted if it dies, because no result is lost."""

    def __init__(
        self,
        start: Callable[[], Worker],
        settle: Callable[[], Awaitable[None]],
        register: Register,
        phase: Phase,
        callbacks: _Callbacks,
    ) -> None:
        self._start = start
        self._settle = settle
        """Log the calls that were in flight when its process was killed, and take its leases."""
        self._register = register
        self._phase = phase
        self._callbacks = callbacks
        self._worker: Worker | None = None
        self._has_sent = False
        """Whether its process has sent any rows."""
        self._why = ""
        """Why its process cannot go on, as it says."""
        self.is_stopped = False
        """Whether its process makes no further call."""
        phase.join(self)

    def cancel(self) -> None:
        """Ask its process to cancel the remaining records; a later process checks by itself."""
        if self._worker:
            self._worker.cancel()

    def tell(self, news: News) -> None:
        """Tell its process of limits; the next one asks by itself."""
        if self._worker:
            self._worker.answer(_NEWS, news)

    async def carry(self, run_id: str) -> None:
        """Run until its part is done."""
        deaths, why = 0, ""
        while deaths < STARTS:
            self._has_sent, self._why = False, ""
            self._worker = worker = self._start()
            following = asyncio.ensure_future(self._follow(worker))
            try:
                # Store everything that a process has sent, even after a cancellation.
                code = await asyncio.shield(following)
            except BaseException:
                await _end(worker, following)
                with suppress(RunError):
                    await self._settle()
                raise
            finally:
                self._worker = None
                self._callbacks.on_end()
                worker.close()
            if code == 0:
                self.is_stopped = True
                await self._phase.leave(self)
                return
            why = f": {self._why or worker.why}" if self._why or worker.why else ""
            if code > 0:
                raise RunError(f"a process of {run_id} could not go on{why or f' ({code})'}")
            await self._settle()
            # One that got anywhere was not killed by what it does.
            deaths = 1 if self._has_sent else deaths + 1
            if deaths < STARTS:
                self._callbacks.warn(
                    f"a worker was lost, and another takes its records over{why or f' ({code})'}"
                )
        raise RunError(f"a process of {run_id} was killed {STARTS} times{why}")

    async def _follow(self, worker: Worker) -> int:
        """Read what it sends; questions are answered while a batch is being stored."""
        keeping: asyncio.Future[None] | None = None
        reading = asyncio.ensure_future(worker.read())
        while True:
            waiting = {reading, keeping} if keeping else {reading}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if keeping and keeping.done():
                keeping.result()
                keeping = None
            if not reading.done():
                continue
            batch = reading.result()
            if not batch:
                break
            reading = asyncio.ensure_future(worker.read())
            if isinstance(batch, HolderQuestion) and batch.kind == "failed":
                self._why = batch.why
            elif isinstance(batch, HolderQuestion):
                answer = self._callbacks.answer(batch)
                if answer is not None:
                    worker.answer(batch, answer)
            else:
                self._has_sent = True
                if keeping:
                    await keeping
                keeping = asyncio.ensure_future(self._keep(worker, batch))
                # Where something else ends this first, nobody waits for its refusal any more.
                keeping.add_done_callback(lambda done: done.cancelled() or done.exception())
        if keeping:
            await keeping
        return await worker.wait()

    async def _keep(self, worker: Worker, batch: bytes) -> None:
        sent = await self._register.keep(batch)
        worker.confirm()
        self._callbacks.on_sent(sent)
        for state in sent.states:
            await self._move(state)

    async def _move(self, state: RunState) -> None:
        """The state of its part, which makes that of the run."""
        if state == "finalizing":
            self.is_stopped = True
            await self._callbacks.on_stop()
        else:
            await self._phase.report(self, is_only_retrying=state == "retrying")


@cache
def _progress_result(status: RecordStatus, passed: bool | None) -> Result:
    """The parts of a result that progress needs."""
    verdict = Verdict(status="evaluated", passed=passed) if status == "evaluated" else None
    return Result(index=0, record_id=None, status=status, verdict=verdict)


async def _end(worker: Worker, following: asyncio.Future[int]) -> None:
    """Ask a process to log its interrupted calls; kill it if it takes too long."""
    if following.done():  # nothing reads its messages any more
        worker.terminate()
        ended = asyncio.ensure_future(worker.wait())
    else:
        worker.stop()
        ended = following
    await asyncio.wait([ended], timeout=_GRACE_S)
    if not ended.done():
        worker.kill()
    await asyncio.gather(ended, following, return_exceptions=True)
