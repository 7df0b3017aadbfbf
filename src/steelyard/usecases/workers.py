"""A run on all cores: local processes that share its records, and one that looks after them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from steelyard.engine.phase import Phase
from steelyard.errors import RunError
from steelyard.model.run import Result, RunState
from steelyard.model.verdict import Verdict
from steelyard.usecases.evaluating import OnResult, evaluate_records, now_text
from steelyard.usecases.planning import Prepared, prepare_part
from steelyard.usecases.run_options import stored_options
from steelyard.usecases.run_ports import Part, RunDoor, Worker

STARTS = 3
_GRACE_S = 10.0
_PASSED, _FAILED, _UNSCORED, _RETRYING, _RUNNING = b"pfxRr"
_TOLD: dict[int, Result] = {
    _PASSED: Result(
        index=0,
        record_id=None,
        status="evaluated",
        verdict=Verdict(status="evaluated", passed=True),
    ),
    _FAILED: Result(
        index=0,
        record_id=None,
        status="evaluated",
        verdict=Verdict(status="evaluated", passed=False),
    ),
    _UNSCORED: Result(index=0, record_id=None, status="evaluation_error"),
}


def worker_count(prepared: Prepared) -> int:
    """How many processes a run can use: none without a call that it may make at once."""
    asked = prepared.options.workers
    if asked == 1 or not prepared.paths:
        return 1
    return min(asked, *(spec.max_concurrency for spec in prepared.specs.values()))


async def evaluate_in_workers(
    door: RunDoor, run_id: str, prepared: Prepared, on_result: OnResult, status: RunState
) -> None:
    """Every record that has no result yet, in processes of their own."""

    async def move(state: RunState) -> None:
        door.repository.move(run_id, state, now_text(door))

    count = worker_count(prepared)
    phase = Phase(status, move)
    parts = [Part(number, count) for number in range(count)]
    for part in parts:
        phase.join(part)
    await phase.tell(parts[0], is_only_retrying=False)
    watching = [
        asyncio.ensure_future(_Watch(door, run_id, part, phase, on_result).carry(prepared))
        for part in parts
    ]
    try:
        await asyncio.gather(*watching)
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)


class _Watch:
    """Looks after one process; one that dies is started again, because nothing is lost with it."""

    def __init__(
        self, door: RunDoor, run_id: str, part: Part, phase: Phase, on_result: OnResult
    ) -> None:
        self._door = door
        self._run_id = run_id
        self._part = part
        self._phase = phase
        self._on_result = on_result

    async def carry(self, prepared: Prepared) -> None:
        """Until its part is done."""
        for _ in range(STARTS):
            worker = await self._door.start_worker(self._run_id, self._part, list(prepared.specs))
            try:
                code = await self._follow(worker)
            except BaseException:
                await _end(worker)
                raise
            if code == 0:
                await self._phase.leave(self._part)
                return
            if code > 0:
                raise RunError(f"a process of {self._run_id} could not go on; it said why above")
        raise RunError(f"a process of {self._run_id} was killed {STARTS} times")

    async def _follow(self, worker: Worker) -> int:
        while said := await worker.read():
            for byte in said:
                if byte in _TOLD:
                    self._on_result(_TOLD[byte])
                else:
                    await self._phase.tell(self._part, is_only_retrying=byte == _RETRYING)
        return await worker.wait()


async def _end(worker: Worker) -> None:
    worker.terminate()
    with suppress(TimeoutError):
        await asyncio.wait_for(worker.wait(), _GRACE_S)
        return
    worker.kill()
    await worker.wait()


async def work_on_part(
    door: RunDoor, run_id: str, part: Part, targets: Sequence[str], tell: Callable[[bytes], None]
) -> None:
    """What a worker process does: its part of a run that another process holds."""
    run = door.repository.find(run_id)
    prepared = prepare_part(door, stored_options(run.plan, run.group_id), targets, part)

    def on_result(result: Result) -> None:
        is_passed = bool(result.verdict and result.verdict.passed)
        byte = (_PASSED if is_passed else _FAILED) if result.status == "evaluated" else _UNSCORED
        tell(bytes((byte,)))

    async def on_phase(state: RunState) -> None:
        tell(bytes((_RETRYING if state == "retrying" else _RUNNING,)))

    try:
        await evaluate_records(door, run_id, prepared, on_result, "running", on_phase=on_phase)
    finally:
        for spec in prepared.specs.values():
            await spec.target.close()
