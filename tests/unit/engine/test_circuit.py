"""A target that is away is waited for; one that refuses every call is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Literal

import pytest

from fakes.clock import ManualClock
from fakes.targets import ScriptedTarget, fails
from fakes.work import Bench, work
from steelyard.engine.circuit import CALLS_TO_STOP, RECORDS_TO_OPEN, Circuit
from steelyard.engine.limiter import Limiter
from steelyard.errors import TargetError, TargetStoppedError
from steelyard.model.trace import Trace
from steelyard.ports import Request


def away(how: Literal["unavailable", "unreachable"] = "unreachable") -> TargetError:
    return TargetError("service_unavailable", "away on purpose", away=how)


class Flaky(ScriptedTarget):
    """A target that is away from one second to another."""

    def __init__(self, clock: ManualClock, begin: float, end: float, error: TargetError) -> None:
        super().__init__()
        self._clock, self._begin, self._end, self._error = clock, begin, end, error

    async def ask(self, request: Request) -> Trace:
        await self._clock.sleep(0.1)
        if self._begin <= self._clock.elapsed < self._end:
            self.calls.append(request)
            raise self._error
        return await super().ask(request)


def run(bench: Bench, count: int, **settings: Any) -> None:
    async def carry() -> None:
        limiter = Limiter(bench.clock, 8, circuit=Circuit(bench.clock, "live", **settings))
        loop = bench.loop([work(index) for index in range(count)], limiter=limiter)
        await bench.clock.carry(loop.run(8))

    asyncio.run(carry())


@pytest.mark.parametrize("how", ["unavailable", "unreachable"])
@pytest.mark.parametrize("seconds", [15, 300])
def test_no_record_is_lost_while_a_target_is_away(
    how: Literal["unavailable", "unreachable"], seconds: float
) -> None:
    bench = Bench()
    bench.target = Flaky(bench.clock, 1.0, 1.0 + seconds, away(how))
    run(bench, 200)

    assert set(bench.statuses().values()) == {"evaluated"}
    assert len(bench.statuses()) == 200
    probes = len(bench.target.calls) - 200
    assert probes <= 2 * 8 + RECORDS_TO_OPEN + seconds / 5


def test_waiting_and_probes_use_no_attempts() -> None:
    bench = Bench()
    bench.target = Flaky(bench.clock, 1.0, 100.0, away())
    run(bench, 50)

    assert {result.attempts for result in bench.ledger.results.values()} == {1}


def test_a_target_that_never_answered_fails_fast() -> None:
    bench = Bench()
    bench.target = Flaky(bench.clock, 0.0, 1000.0, away())
    run(bench, 20)

    assert set(bench.statuses().values()) == {"evaluation_error"}
    assert bench.clock.elapsed < 60


def test_a_target_that_answered_before_a_stop_is_waited_for_after_it() -> None:
    bench = Bench()
    bench.target = Flaky(bench.clock, 0.0, 100.0, away())
    run(bench, 20, has_answered=lambda: True)

    assert set(bench.statuses().values()) == {"evaluated"}


def test_a_run_stops_when_a_target_is_away_for_too_long() -> None:
    bench = Bench()
    bench.target = Flaky(bench.clock, 1.0, 10_000.0, away())

    with pytest.raises(TargetStoppedError, match=r"away for 6\d\d s \(limits\.outage_s"):
        run(bench, 200)
    assert set(bench.statuses().values()) == {"evaluated"}


def test_one_record_that_is_always_refused_holds_nobody() -> None:
    bench = Bench(ScriptedTarget({"r3": [away("unavailable")]}))
    run(bench, 20)

    statuses = bench.statuses()
    assert statuses.pop(3) == "evaluation_error"
    assert set(statuses.values()) == {"evaluated"}
    assert bench.ledger.results[3, 0].attempts == 3


@pytest.mark.parametrize("code", ["unauthorized", "forbidden", "not_found", "unknown_host"])
def test_a_target_that_refuses_its_first_calls_for_good_is_stopped(code: str) -> None:
    bench = Bench(ScriptedTarget(otherwise=fails(code)))

    with pytest.raises(TargetStoppedError, match=f"first 10 calls .* {code}: {code} on purpose"):
        run(bench, 500)
    assert len(bench.target.calls) <= CALLS_TO_STOP + 8


def test_a_target_that_answers_once_is_not_stopped() -> None:
    bench = Bench(ScriptedTarget({"r0": ["yes"]}, otherwise=fails("unauthorized")))
    run(bench, 50)

    assert len(bench.statuses()) == 50


def test_few_refusals_stop_nothing() -> None:
    bench = Bench(ScriptedTarget(otherwise=fails("unauthorized")))
    run(bench, CALLS_TO_STOP - 1)

    assert set(bench.statuses().values()) == {"evaluation_error"}


@pytest.mark.parametrize("ends", [fails("bad_request"), fails("timeout"), fails("cancelled")])
def test_a_probe_that_ends_otherwise_lets_the_next_one_in(ends: TargetError) -> None:
    clock = ManualClock()

    async def use() -> None:
        circuit = Circuit(clock, has_answered=lambda: True)
        assert circuit.failed(away(), 0.0, (0, 0))
        await circuit.admit()
        circuit.failed(ends, clock.elapsed, (0, 0))
        await circuit.admit()
        circuit.answered()

        assert not circuit.is_open

    _carried(clock, use)


def test_an_answer_with_a_status_ends_an_outage() -> None:
    clock = ManualClock()

    async def use() -> None:
        circuit = Circuit(clock, has_answered=lambda: True)
        circuit.failed(away(), 0.0, (0, 0))
        await circuit.admit()
        circuit.failed(TargetError("bad_request", "no", http_status=400), clock.elapsed, (0, 0))

        assert not circuit.is_open

    _carried(clock, use)


def _carried(clock: ManualClock, use: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        await clock.carry(use())

    asyncio.run(main())


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("seconds", [15, 300])
def test_the_last_records_outlive_an_outage_too(count: int, seconds: float) -> None:
    bench = Bench()
    bench.target = Flaky(bench.clock, 0.0, seconds, away("unavailable"))
    run(bench, count, has_answered=lambda: True)

    assert set(bench.statuses().values()) == {"evaluated"}
    assert all(result.attempts <= 3 for result in bench.ledger.results.values())


def test_a_record_that_fails_while_others_are_answered_fails_alone() -> None:
    bench = Bench(ScriptedTarget({"r1": [away("unavailable")] * 3}))
    run(bench, 4)

    assert bench.statuses() == {
        0: "evaluated",
        1: "evaluation_error",
        2: "evaluated",
        3: "evaluated",
    }
    assert bench.ledger.results[1, 0].attempts == 3


def test_an_answer_to_another_process_counts() -> None:
    looks = iter([False, True])
    clock = ManualClock()
    circuit = Circuit(clock, has_answered=lambda: next(looks))

    async def fail_twice() -> list[bool]:
        first = circuit.failed(away(), 0.0, (0, 0))
        again = circuit.failed(away(), 0.0, (1, 0))
        await clock.carry(clock.sleep(1.0))
        return [first, again, circuit.failed(away(), clock.elapsed, (2, 0))]

    assert asyncio.run(fail_twice()) == [False, False, True]


@pytest.mark.parametrize("first", [0, 10, 32], ids=["first", "in between", "last"])
@pytest.mark.parametrize("count", [1, 8])
def test_records_that_are_always_refused_are_no_outage(first: int, count: int) -> None:
    poisoned = range(first or 8, (first or 8) + count)
    bench = Bench(ScriptedTarget({f"r{index}": [away("unavailable")] for index in poisoned}))
    run(bench, 40)
    results = bench.ledger.results

    assert {index for index, said in bench.statuses().items() if said != "evaluated"} == set(
        poisoned
    )
    assert {results[index, 0].attempts for index in poisoned} == {3}
    assert bench.clock.elapsed < 60
