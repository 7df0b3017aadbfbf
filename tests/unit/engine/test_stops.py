"""A stop leaves no record without a result, breaks off what it may, and waits for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.ledger import MemoryLedger
from fakes.targets import Said, ScriptedTarget, fails
from fakes.work import Bench, work
from steelyard.engine.budget import CANCEL, Budget, Stop, deadline_stop
from steelyard.engine.limiter import Limiter
from steelyard.engine.phase import Phase
from steelyard.engine.record_work import Work
from steelyard.engine.records import RecordLoop
from steelyard.model.run import INTERRUPTED, Result
from steelyard.model.trace import Trace
from steelyard.ports import Request

LATE = deadline_stop(10)


def records(count: int) -> Iterator[Work | Result]:
    return (work(index) for index in range(count))


def hanging() -> ScriptedTarget:
    target = ScriptedTarget()
    target.held = asyncio.Event()
    return target


def stopped(
    bench: Bench,
    loop: RecordLoop,
    *stops: Stop,
    concurrency: int = 4,
    then: Callable[[], None] = lambda: None,
) -> None:
    """Run until nothing goes on by itself, stop, and come to the end without any time passing."""

    async def run() -> None:
        running = asyncio.ensure_future(loop.run(concurrency))
        await bench.clock.settle()
        assert not running.done()
        for stop in stops:
            loop.stop(stop)
        then()
        await asyncio.wait_for(running, 120)

    asyncio.run(run())


def labels(bench: Bench) -> dict[int, tuple[str, str | None, int]]:
    return {
        index: (result.status, result.label, result.attempts)
        for (index, _), result in sorted(bench.ledger.results.items())
    }


def test_a_cancel_breaks_off_the_calls_that_hang_and_asks_nothing_more() -> None:
    bench = Bench(hanging())
    stopped(bench, bench.loop(records(6)), CANCEL)
    made = list(bench.ledger.attempts.values())

    assert len(bench.target.calls) == 4
    assert labels(bench) == {
        **dict.fromkeys(range(4), ("cancelled", "cancelled", 0)),
        4: ("cancelled", "cancelled", 0),
        5: ("cancelled", "cancelled", 0),
    }
    assert {attempt.error_code for attempt in made} == {"interrupted"}
    assert {attempt.message for attempt in made} == {
        "the run was cancelled; the request may have been sent"
    }
    results = [result for _, result in sorted(bench.ledger.results.items())]
    assert [result.message.endswith("may have been sent") for result in results] == [
        *[True] * 4,
        *[False] * 2,
    ]
    assert len(bench.seen) == 6


def test_a_deadline_lets_the_calls_that_are_made_come_to_their_end() -> None:
    bench = Bench(hanging())
    held = bench.target.held
    assert held
    stopped(bench, bench.loop(records(6)), LATE, then=held.set)

    assert labels(bench) == {
        **dict.fromkeys(range(4), ("evaluated", None, 1)),
        4: ("cancelled", "deadline", 0),
        5: ("cancelled", "deadline", 0),
    }


def test_a_call_that_fails_after_a_stop_is_not_tried_again() -> None:
    bench = Bench(hanging())
    bench.target.otherwise = fails("timeout")
    held = bench.target.held
    assert held
    stopped(bench, bench.loop(records(2)), LATE, concurrency=1, then=held.set)

    assert labels(bench) == {0: ("timeout", "timeout", 1), 1: ("cancelled", "deadline", 0)}
    assert bench.clock.elapsed == 0


@pytest.mark.parametrize("stop", [CANCEL, LATE])
def test_a_record_that_waits_for_its_retry_waits_no_longer(stop: Stop) -> None:
    bench = Bench(ScriptedTarget({"r0": [fails("timeout"), "yes"]}))
    stopped(bench, bench.loop(records(2)), stop)

    assert labels(bench) == {0: ("cancelled", stop.label, 1), 1: ("evaluated", None, 1)}
    assert bench.ledger.results[0, 0].first_attempt_at == bench.clock.now().isoformat(
        timespec="milliseconds"
    )
    assert [attempt.error_code for attempt in bench.ledger.attempts.values()] == ["timeout", None]
    assert bench.ledger.states[-1] == "running"


@pytest.mark.parametrize(
    ("retry_after_s", "at_once", "expected", "elapsed"),
    [
        (59.0, 4, ("evaluated", None, 2), 59.0),
        (61.0, 4, ("evaluation_error", "rate_limited", 1), 0.0),
        (61.0, 1, ("evaluation_error", "rate_limited", 1), 0.0),
    ],
)
def test_silence_past_the_deadline_ends_a_record_and_holds_no_other(
    retry_after_s: float, at_once: int, expected: tuple[str, str | None, int], elapsed: float
) -> None:
    failure = fails("rate_limited", retry_after_s=retry_after_s)
    bench = Bench(ScriptedTarget({f"r{n}": [failure, "yes"] for n in range(4)}))
    bench.deadline = 60.0
    asyncio.run(bench.run(records(4), concurrency=at_once))

    assert labels(bench) == dict.fromkeys(range(4), expected)
    assert bench.clock.elapsed == elapsed


@pytest.mark.parametrize("stop", [CANCEL, LATE])
def test_a_record_that_waits_for_the_pace_waits_no_longer(stop: Stop) -> None:
    bench = Bench()
    limiter = Limiter(bench.clock, 4, requests_per_minute=1)
    stopped(bench, bench.loop(records(6), limiter=limiter), stop)

    assert len(bench.target.calls) == 1
    assert [status for status, _, _ in labels(bench).values()].count("cancelled") == 5
    assert limiter.in_flight == 0
    assert bench.clock.elapsed == 0


@pytest.mark.parametrize("stop", [CANCEL, LATE])
def test_a_record_that_a_server_keeps_waiting_waits_no_longer(stop: Stop) -> None:
    bench = Bench(ScriptedTarget(otherwise=fails("rate_limited", retry_after_s=200)))
    limiter = Limiter(bench.clock, 1)
    stopped(bench, bench.loop(records(6), limiter=limiter), stop)

    assert len(bench.target.calls) == 1
    assert labels(bench)[0] == ("cancelled", stop.label, 1)
    assert labels(bench)[5] == ("cancelled", stop.label, 0)
    assert limiter.in_flight == 0


def test_a_record_that_waits_for_its_turn_waits_no_longer() -> None:
    bench = Bench(hanging())
    held = bench.target.held
    assert held
    limiter = Limiter(bench.clock, 1)
    stopped(bench, bench.loop(records(3), limiter=limiter), LATE, then=held.set)

    assert labels(bench)[0] == ("evaluated", None, 1)
    assert [label for _, label, _ in labels(bench).values()] == [None, "deadline", "deadline"]


@pytest.mark.parametrize("stops", [(CANCEL, CANCEL), (LATE, CANCEL), (CANCEL, LATE), (LATE, LATE)])
def test_a_second_stop_does_no_harm(stops: tuple[Stop, Stop]) -> None:
    bench = Bench(hanging())
    held = bench.target.held
    assert held
    limiter = Limiter(bench.clock, 2)
    loop = bench.loop(records(6), limiter=limiter)
    stopped(bench, loop, *stops, then=held.set if CANCEL not in stops else lambda: None)

    label = "cancelled" if CANCEL in stops else "deadline"
    assert sorted(bench.statuses()) == list(range(6))
    assert labels(bench)[5] == ("cancelled", label, 0)


def test_a_loop_that_is_stopped_before_it_begins_asks_nothing() -> None:
    bench = Bench()
    invalid = Result(index=0, record_id=None, status="invalid_record")
    loop = bench.loop([invalid, work(1), work(2, attempt=3)])

    async def run() -> None:
        loop.stop(CANCEL)
        await loop.run(4)

    asyncio.run(run())

    assert bench.target.calls == []
    assert bench.statuses() == {0: "invalid_record", 1: "cancelled", 2: "cancelled"}
    assert bench.ledger.results[2, 0].attempts == 2


def test_a_failure_that_is_being_kept_when_the_stop_comes_is_not_tried_again() -> None:
    bench = Bench(ScriptedTarget(otherwise=fails("timeout")), ledger=MemoryLedger(is_held=True))

    def commit() -> None:
        bench.ledger.is_held = False
        bench.ledger.commit()

    stopped(bench, bench.loop(records(1)), CANCEL, then=commit)

    assert labels(bench) == {0: ("cancelled", "cancelled", 1)}
    assert len(bench.ledger.attempts) == 1


class Stubborn(ScriptedTarget):
    """Answers even when its call is broken off."""

    async def ask(self, request: Request) -> Trace:
        try:
            return await super().ask(request)
        except asyncio.CancelledError:
            return self._next(request)


def test_an_answer_that_comes_though_its_call_was_broken_off_is_kept() -> None:
    bench = Bench(Stubborn())
    bench.target.held = asyncio.Event()
    stopped(bench, bench.loop(records(3)), CANCEL, concurrency=1)

    assert labels(bench)[0] == ("evaluated", None, 1)
    assert labels(bench)[1] == ("cancelled", "cancelled", 0)


@pytest.mark.parametrize(("stop", "kept"), [(CANCEL, {"cancelled"}), (LATE, set[str]())])
def test_whoever_ends_the_loop_itself_ends_it_though_it_was_stopped(
    stop: Stop, kept: set[str]
) -> None:
    """Ctrl-C while calls come to their end: those are asked again after `resume`."""
    bench = Bench(hanging())

    async def run() -> None:
        loop = bench.loop(records(6))
        running = asyncio.ensure_future(loop.run(2))
        await bench.clock.settle()
        loop.stop(stop)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())

    assert set(bench.statuses().values()) == kept


def two_loops(bench: Bench, first: RecordLoop, second: RecordLoop) -> None:
    async def run() -> None:
        both = asyncio.gather(first.run(4), second.run(4))
        await bench.clock.carry(asyncio.wait_for(both, None))

    asyncio.run(run())


def test_money_that_one_target_uses_up_ends_the_others_though_they_wait() -> None:
    bench = Bench()
    bench.price = (0.0, 200_000.0)
    bench.budget = Budget(3.0)
    phase = Phase("running", bench.ledger.move)
    slow = Limiter(bench.clock, 4, requests_per_minute=0.001)
    first = bench.loop([work(n) for n in range(8)], phase=phase)
    second = bench.loop([work(n) for n in range(8, 16)], phase=phase, limiter=slow)
    two_loops(bench, first, second)

    assert len(bench.ledger.results) == 16
    assert {label for status, label, _ in labels(bench).values() if status == "cancelled"} == {
        "budget"
    }
    assert bench.clock.elapsed == 0


@pytest.mark.parametrize(
    ("failure", "patience"),
    [
        (fails("rate_limited", retry_after_s=250.0), 500),
        (fails("timeout"), 0),
        (fails("bad_request"), 0),
    ],
)
def test_a_target_that_keeps_failing_keeps_no_other_waiting(
    failure: Said, patience: float
) -> None:
    bench = Bench()
    bad = ScriptedTarget(name="bad", otherwise=failure)
    phase = Phase("running", bench.ledger.move)
    done: dict[int, float] = {}
    bench.on_result = lambda result: done.update({result.index: bench.clock.elapsed})
    items = [work(n, target="bad" if n % 2 else "good") for n in range(40)]
    first = bench.loop(items[::2], phase=phase)
    second = bench.loop(items[1::2], phase=phase, target=bad, limiter=Limiter(bench.clock, 2))
    two_loops(bench, first, second)

    assert {done[n] for n in range(0, 40, 2)} == {0.0}
    assert {bench.statuses()[n] for n in range(0, 40, 2)} == {"evaluated"}
    assert max(done.values()) >= patience
    assert len(done) == 40


def test_a_target_that_hangs_keeps_no_other_waiting() -> None:
    bench = Bench()
    phase = Phase("running", bench.ledger.move)
    first = bench.loop(records(20), phase=phase)
    second = bench.loop([work(n) for n in range(20, 40)], phase=phase, target=hanging())

    async def run() -> None:
        both = asyncio.gather(first.run(4), second.run(4))
        await bench.clock.settle()
        assert sorted(bench.statuses()) == list(range(20))
        second.stop(CANCEL)
        await asyncio.wait_for(both, 120)

    asyncio.run(run())

    assert set(bench.statuses().values()) == {"evaluated", "cancelled"}
    assert len(bench.ledger.results) == 40


SAID: st.SearchStrategy[list[Said]] = st.lists(
    st.sampled_from(["yes", fails("timeout"), fails("rate_limited", retry_after_s=20.0)]),
    min_size=1,
    max_size=3,
)


@given(
    script=st.lists(SAID, max_size=12),
    turns=st.integers(0, 120),
    seconds=st.floats(0, 30),
    stops=st.lists(st.sampled_from([CANCEL, LATE]), min_size=1, max_size=3),
    paced=st.booleans(),
)
def test_whenever_it_is_stopped_every_record_has_one_result_and_every_call_its_attempt(
    script: list[list[Said]], turns: int, seconds: float, stops: list[Stop], paced: bool
) -> None:
    bench = Bench(ScriptedTarget({f"r{index}": said for index, said in enumerate(script)}))
    limiter = Limiter(bench.clock, 3, requests_per_minute=30 if paced else None)

    async def run() -> None:
        loop = bench.loop(records(len(script)), limiter=limiter)
        running = asyncio.ensure_future(loop.run(3))
        for stop in stops:
            for _ in range(turns):
                await asyncio.sleep(0)
            bench.clock.move(seconds)
            loop.stop(stop)
        before = bench.clock.elapsed
        await bench.clock.carry(asyncio.wait_for(running, None))
        assert bench.clock.elapsed == before

    asyncio.run(run())

    assert sorted(bench.ledger.results) == [(index, 0) for index in range(len(script))]
    assert len(bench.ledger.attempts) == len(bench.target.calls)
    assert limiter.in_flight == 0
    for (index, _), result in bench.ledger.results.items():
        logged = [one for place, one in bench.ledger.attempts.items() if place[0] == index]
        # What a stop cuts off uses no attempt.
        made = [one.attempt for one in logged if one.error_code != INTERRUPTED]
        assert made == list(range(1, result.attempts + 1))
