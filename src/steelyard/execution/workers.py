"""A run on all cores: local processes that share its records, and one that looks after them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import cache, partial

from steelyard.engine.phase import Phase
from steelyard.errors import RunError
from steelyard.execution.early_sealing import EarlySealing, may_seal_early
from steelyard.execution.evaluating import OnResult, all_to_their_end, probe_judges
from steelyard.execution.ports import ExecutionPorts, Part, Register, SentBatch, Worker
from steelyard.execution.prepared import Prepared
from steelyard.model.run import RecordStatus, Result, RunState
from steelyard.model.verdict import Verdict

STARTS = 3
_GRACE_S = 10.0


def worker_count(prepared: Prepared) -> int:
    """How many processes a run can use: none without a record or a call at once for it."""
    asked = prepared.options.workers
    if asked == 1 or not prepared.paths:
        return 1
    specs = (*prepared.specs.values(), *prepared.judge_specs.values())
    return min(asked, prepared.forecast.total, *(spec.max_concurrency for spec in specs))


async def evaluate_in_workers(
    ports: ExecutionPorts, run_id: str, prepared: Prepared, on_result: OnResult, status: RunState
) -> EarlySealing | None:
    """Every record that has no result yet, in processes of their own.

    Gives the artifacts that could be begun meanwhile.
    """

    async def move(state: RunState) -> None:
        ports.repository.move(run_id, state, ports.clock.stamp())

    await probe_judges(ports, run_id, prepared, on_result, status)
    count = worker_count(prepared)
    phase = Phase(status, move)
    register = ports.register(run_id)
    early = EarlySealing(ports, run_id, prepared) if may_seal_early(prepared) else None

    def on_sent(sent: SentBatch) -> None:
        if early:
            early.note(sent.places)
        for record_status, passed in sent.outcomes:
            on_result(_told(record_status, passed))

    watches = [
        _Watch(
            partial(ports.worker_pool.start, run_id, part, list(prepared.specs)),
            partial(register.settle, part.holder("")),
            register,
            phase,
            on_sent,
        )
        for part in Part.all_of(count, prepared.forecast.total)
    ]
    await phase.tell(watches[0], is_only_retrying=False)
    try:
        await _watch(ports, run_id, watches)
    except BaseException:
        if early:
            early.give_up()
        raise
    finally:
        await asyncio.shield(register.close())
    return early


async def _watch(ports: ExecutionPorts, run_id: str, watches: Sequence[_Watch]) -> None:
    """All processes to their end; when one cannot go on, none does."""
    running = asyncio.get_running_loop()

    def cancel() -> None:
        for watch in watches:
            with suppress(RuntimeError):  # the run was over first
                running.call_soon_threadsafe(watch.cancel)

    ports.on_cancel(run_id, cancel)
    await all_to_their_end(watch.carry(run_id) for watch in watches)


class _Watch:
    """Looks after one process; one that dies is started again, because nothing is lost with it."""

    def __init__(
        self,
        start: Callable[[], Worker],
        settle: Callable[[], Awaitable[None]],
        register: Register,
        phase: Phase,
        on_sent: Callable[[SentBatch], None],
    ) -> None:
        self._start = start
        self._settle = settle
        """Log the calls that its process may have made before it was killed."""
        self._register = register
        self._phase = phase
        self._on_sent = on_sent
        self._worker: Worker | None = None
        phase.join(self)

    def cancel(self) -> None:
        """Have its process cancel what is left; one that starts later sees that by itself."""
        if self._worker:
            self._worker.cancel()

    async def carry(self, run_id: str) -> None:
        """Until its part is done."""
        for _ in range(STARTS):
            self._worker = worker = self._start()
            following = asyncio.ensure_future(self._follow(worker))
            try:
                # What a process has sent is kept, even if nobody waits for more.
                code = await asyncio.shield(following)
            except BaseException:
                await _end(worker, following)
                with suppress(RunError):
                    await self._settle()
                raise
            finally:
                self._worker = None
                worker.close()
            if code == 0:
                await self._phase.leave(self)
                return
            if code > 0:
                raise RunError(f"a process of {run_id} could not go on; it said why above")
            await self._settle()
        raise RunError(f"a process of {run_id} was killed {STARTS} times")

    async def _follow(self, worker: Worker) -> int:
        while batch := await worker.read():
            sent = await self._register.keep(batch)
            worker.confirm()
            self._on_sent(sent)
            for state in sent.states:
                await self._phase.tell(self, is_only_retrying=state == "retrying")
        return await worker.wait()


@cache
def _told(status: RecordStatus, passed: bool | None) -> Result:
    """As much of a result as whoever watches a run needs."""
    verdict = Verdict(status="evaluated", passed=passed) if status == "evaluated" else None
    return Result(index=0, record_id=None, status=status, verdict=verdict)


async def _end(worker: Worker, following: asyncio.Future[int]) -> None:
    """Have a process log the calls that it breaks off; one that takes too long is killed."""
    if following.done():  # nobody is left to whom it could tell anything
        worker.terminate()
        ended = asyncio.ensure_future(worker.wait())
    else:
        worker.stop()
        ended = following
    await asyncio.wait([ended], timeout=_GRACE_S)
    if not ended.done():
        worker.kill()
    await asyncio.gather(ended, following, return_exceptions=True)
