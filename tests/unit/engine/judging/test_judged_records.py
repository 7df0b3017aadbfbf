"""Records that judges look at: answers and replies are kept first, and nobody holds up another."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from fakes.judges import AsksJudge, JudgeBench, ScriptedJudge, judged_work
from fakes.shared_run import SharedRun
from fakes.targets import ScriptedTarget, fails, trace
from fakes.work import work
from steelyard.engine.budget import CANCEL, Budget, Stop, deadline_stop
from steelyard.engine.judging.judge_calls import KeptBefore
from steelyard.engine.judging.judged_records import JUDGE
from steelyard.engine.limiter import Limiter
from steelyard.engine.record_work import Work
from steelyard.errors import RunError
from steelyard.model.run import Judging, Result
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Request
from steelyard.results.attempts import Attempt

TWO = AsksJudge(items=("a", "b"))
IN_TURN = AsksJudge(items=("a", "b"), is_in_turn=True)


def judge_attempts(bench: JudgeBench, index: int = 0) -> list[Attempt]:
    made = bench.ledger.attempts.values()
    return [a for a in made if a.is_judging and a.index == index]


def result(bench: JudgeBench, index: int = 0) -> Result:
    return bench.ledger.results[index, 0]


def kept_before(bench: JudgeBench, index: int = 0) -> KeptBefore:
    """What another process finds of a record."""
    judged = bench.ledger.judgements.values()
    tried: dict[str, int] = {}
    for one in judge_attempts(bench, index):
        tried[one.named] = max(one.attempt, tried.get(one.named, 0))
    return KeptBefore({one.key: one for one in judged if one.index == index}, tried)


def resumed(bench: JudgeBench, item: Work) -> Work:
    """The same record as another process finds it, whose answer is kept."""
    return replace(item, answered=bench.ledger.answered[item.record.index, item.record.repeat])


def test_every_record_is_answered_judged_and_kept_once() -> None:
    bench = JudgeBench(ScriptedJudge({"r1": ["no"]}))
    bench.judge_all(judged_work(index) for index in range(3))

    passed = {i: r.verdict and r.verdict.passed for (i, _), r in bench.ledger.results.items()}
    assert passed == {0: True, 1: False, 2: True}
    assert len(bench.target.calls) == len(bench.judge.calls) == 3
    assert sorted(one.index for one in bench.seen) == [0, 1, 2]
    assert bench.ledger.answered == {}


def test_records_without_a_judge_stay_with_the_loop() -> None:
    bench = JudgeBench()
    bench.judge_all([judged_work(0), work(1)])

    assert bench.statuses() == {0: "evaluated", 1: "evaluated"}
    assert len(bench.judge.calls) == 1
    assert result(bench, 1).judging is None


def test_an_answer_is_kept_before_a_judge_is_asked_and_a_reply_before_it_is_used() -> None:
    bench = JudgeBench()
    seen: list[tuple[int, int, int]] = []

    class Watching(ScriptedJudge):
        async def ask(self, request: Request) -> Trace:
            kept = bench.ledger
            seen.append((len(kept.answered), len(kept.attempts), len(kept.judgements)))
            return await super().ask(request)

    bench.judges = {"judge": Watching()}
    bench.judge_all([judged_work(0, IN_TURN)])

    assert seen == [(1, 1, 0), (1, 2, 1)]


def test_a_judge_is_told_its_prompt_and_nothing_else_of_the_case() -> None:
    bench = JudgeBench()
    bench.judge_all([judged_work(0)])
    (request,) = bench.judge.calls
    said = request.prompt.messages[0][1]

    assert request.judged is not None
    assert request.prompt.text == said
    assert [message.text for message in request.case.input_messages] == [said]
    assert (request.judged.check, request.judged.judge) == ("right", "judge/fair@1.0.0")
    assert request.judged.candidate == "scripted"
    assert request.judged.schema == {"type": "object"}


def test_attempts_name_the_judge_and_what_it_was_asked_about() -> None:
    bench = JudgeBench()
    bench.judge_all([judged_work(0, TWO)])
    made = judge_attempts(bench)

    assert {(one.call, one.check, one.item, one.target) for one in made} == {
        ("judge/fair@1.0.0", "right", "a", "judge"),
        ("judge/fair@1.0.0", "right", "b", "judge"),
    }
    assert len({one.key for one in made}) == 2
    assert all(one.latency_ms == 5.0 and one.input_tokens == 10 for one in made)


@pytest.mark.parametrize(
    ("failure", "calls"),
    [
        (fails("timeout"), 3),
        (fails("rate_limited"), 3),
        (fails("service_unavailable"), 3),
        (fails("bad_request"), 1),
        (fails("rate_limited", retry_after_s=301), 1),
        (ValueError("odd"), 1),
        (asyncio.CancelledError("the target cancelled itself"), 1),
    ],
)
def test_a_judge_that_keeps_failing_leaves_a_record_unscored(
    failure: BaseException, calls: int
) -> None:
    bench = JudgeBench(ScriptedJudge({"r0": [failure]}))
    bench.judge_all([judged_work(0), judged_work(1)])
    kept = result(bench)

    assert bench.statuses() == {0: "evaluation_error", 1: "evaluated"}
    assert (kept.label, kept.trace is not None) == (JUDGE, True)
    assert kept.verdict is not None
    assert kept.verdict.results[0].outcome.status == "unscored"
    assert len(judge_attempts(bench)) == calls
    assert kept.judging == Judging(calls=1, unanswered=1, attempts=calls)


def test_a_judge_that_recovers_has_judged() -> None:
    bench = JudgeBench(ScriptedJudge({"r0": [fails("timeout"), fails("rate_limited"), "yes"]}))
    bench.judge_all([judged_work(0)])
    made = judge_attempts(bench)

    assert bench.statuses() == {0: "evaluated"}
    assert [one.error_code for one in made] == ["timeout", "rate_limited", None]
    assert [one.attempt for one in made] == [1, 2, 3]
    waits = [one.retry_in_s for one in made]
    assert waits[0] is not None
    assert waits[1] is not None
    assert bench.clock.elapsed == pytest.approx(waits[0] + waits[1], abs=0.01)


def test_while_one_record_waits_for_a_retry_others_are_judged() -> None:
    bench = JudgeBench(ScriptedJudge({"r0": [fails("timeout"), "yes"]}))
    bench.judge_limiter = Limiter(bench.clock, 1)
    bench.judge_all(judged_work(index) for index in range(4))

    asked = [request.case.id for request in bench.judge.calls]
    assert sorted(asked[:4]) == ["r0", "r1", "r2", "r3"]
    assert asked[4] == "r0"


def test_money_is_spent_by_target_and_judge_and_told_apart() -> None:
    answer = replace(trace("yes"), usage=Usage(input_tokens=1000, output_tokens=0))
    bench = JudgeBench(target=ScriptedTarget(otherwise=answer))
    bench.price, bench.judge_price = (1.0, 1.0), (10.0, 20.0)
    bench.judge_all([judged_work(0, TWO)])
    kept = result(bench)

    assert kept.judging is not None
    assert kept.judging.cost_usd == pytest.approx(0.0004)
    assert (kept.judging.input_tokens, kept.judging.output_tokens) == (20, 10)
    assert kept.cost_usd == pytest.approx(0.001 + 0.0004)


def test_a_judge_without_a_price_leaves_the_cost_of_the_target() -> None:
    bench = JudgeBench()
    bench.price = (1.0, 1.0)
    bench.judge_all([judged_work(0)])

    assert result(bench).cost_usd == pytest.approx(0.000015)


def test_an_answer_that_is_kept_is_not_asked_for_again_and_no_reply_either() -> None:
    first = JudgeBench(ScriptedJudge({"r0/b": [KeyboardInterrupt()]}))
    with pytest.raises(KeyboardInterrupt):
        first.judge_all([judged_work(0, IN_TURN)])
    second = JudgeBench()
    second.ledger = first.ledger
    second.before = {(0, 0): kept_before(first)}
    second.judge_all([resumed(first, judged_work(0, IN_TURN))])

    assert second.target.calls == []
    assert [request.judged and request.judged.item for request in second.judge.calls] == ["b"]
    assert second.statuses() == {0: "evaluated"}
    assert (result(second).attempts, result(second).trace) == (1, trace("yes"))
    assert result(second).judging == Judging(
        calls=2, attempts=2, input_tokens=20, output_tokens=10
    )


def test_a_failure_that_is_kept_is_not_tried_again() -> None:
    check = AsksJudge(items=("a", "b"), is_in_turn=False)
    first = JudgeBench(
        ScriptedJudge({"r0/a": [fails("bad_request")], "r0/b": [KeyboardInterrupt()]})
    )
    with pytest.raises(KeyboardInterrupt):
        first.judge_all([judged_work(0, check)])
    second = JudgeBench()
    second.ledger = first.ledger
    second.before = {(0, 0): kept_before(first)}
    second.judge_all([resumed(first, judged_work(0, check))])

    asked = [request.judged and request.judged.item for request in second.judge.calls]
    assert "a" not in asked
    assert second.statuses() == {0: "evaluation_error"}


def test_attempts_go_on_counting_after_a_stop() -> None:
    bench = JudgeBench(ScriptedJudge({"r0": [fails("timeout")]}))

    async def stopped() -> None:
        running = asyncio.ensure_future(bench.carry([judged_work(0)]))
        await bench.clock.settle()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(stopped())
    second = JudgeBench(ScriptedJudge({"r0": [fails("timeout")]}))
    second.ledger = bench.ledger
    second.before = {(0, 0): kept_before(bench)}
    second.judge_all([resumed(bench, judged_work(0))])

    assert [one.attempt for one in judge_attempts(second)] == [1, 2, 3]
    assert len(second.judge.calls) == 2


def test_two_that_ask_the_same_in_one_record_get_one_reply() -> None:
    bench = JudgeBench()
    bench.judge_all([judged_work(0, AsksJudge(items=("a", "a")))])

    assert len(bench.judge.calls) == 1
    assert bench.statuses() == {0: "evaluated"}


def test_the_same_judge_through_two_targets_is_asked_twice() -> None:
    bench = JudgeBench(ScriptedJudge(name="one"), ScriptedJudge(name="two"))
    bench.judge_all([judged_work(0, AsksJudge(target="one"), AsksJudge(target="two"))])

    assert [len(judge.calls) for judge in bench.judges.values()] == [1, 1]


def test_a_judge_without_a_target_leaves_its_check_unscored() -> None:
    bench = JudgeBench()
    bench.judge_all([judged_work(0, AsksJudge(target="nowhere"))])

    assert bench.statuses() == {0: "evaluation_error"}
    assert "judges.default.target" in result(bench).message


def test_an_answer_that_cannot_be_kept_is_the_end_of_the_run() -> None:
    bench = JudgeBench()
    bench.ledger.error = RunError("the disk is full")

    with pytest.raises(RunError, match="the disk is full"):
        bench.judge_all([judged_work(0), judged_work(1)])
    assert bench.judge.calls == []


def test_a_reply_that_cannot_be_kept_is_the_end_of_the_run_and_no_failed_check() -> None:
    bench = JudgeBench()

    class Breaking(ScriptedJudge):
        async def ask(self, request: Request) -> Trace:
            bench.ledger.error = RunError("the disk is full")
            return await super().ask(request)

    bench.judges = {"judge": Breaking()}

    with pytest.raises(RunError, match="the disk is full"):
        bench.judge_all([judged_work(0)])
    assert bench.ledger.results == {}


def stop_while(bench: JudgeBench, items: list[Work], stop: Stop, after_s: float = 0.0) -> None:
    """Stop a run some time after it has come to a halt."""

    async def run() -> None:
        running = asyncio.ensure_future(bench.carry(items))
        await bench.clock.settle()
        bench.clock.move(after_s)
        await bench.clock.settle()
        assert bench.calls
        bench.calls.stop(stop)
        await bench.clock.settle()
        if bench.judge.held:
            bench.judge.held.set()
        await bench.clock.carry(_awaited(running))

    asyncio.run(run())


async def _awaited(running: asyncio.Future[None]) -> None:
    await running


def test_an_urgent_stop_breaks_off_the_calls_that_are_made() -> None:
    bench = JudgeBench()
    bench.judge.held = asyncio.Event()
    bench.price = (1.0, 1.0)
    stop_while(bench, [judged_work(0), judged_work(1)], CANCEL)
    kept = result(bench)

    assert bench.statuses() == {0: "cancelled", 1: "cancelled"}
    assert (kept.label, kept.message) == (CANCEL.label, CANCEL.message)
    assert (kept.trace, kept.verdict) == (trace("yes"), None)
    assert kept.cost_usd == pytest.approx(0.000015)
    assert [one.error_code for one in judge_attempts(bench)] == ["interrupted"]


def test_another_stop_lets_calls_end_and_begins_none() -> None:
    bench = JudgeBench()
    bench.judge.held = asyncio.Event()
    items = [judged_work(0), judged_work(1, IN_TURN)]
    stop_while(bench, items, deadline_stop(5))

    assert bench.statuses() == {0: "evaluated", 1: "cancelled"}
    assert result(bench, 1).label == "deadline"
    assert result(bench, 1).judging == Judging(
        calls=1, attempts=1, input_tokens=10, output_tokens=5
    )
    assert len(bench.judge.calls) == 2


def test_a_stop_ends_the_wait_for_a_retry_and_for_a_turn() -> None:
    bench = JudgeBench(ScriptedJudge({"r0": [fails("timeout")]}))
    stop_while(bench, [judged_work(0)], deadline_stop(5))

    assert bench.statuses() == {0: "cancelled"}
    assert len(bench.judge.calls) == 1
    assert bench.clock.elapsed == 0


def test_a_budget_that_judges_use_up_ends_the_run() -> None:
    bench = JudgeBench()
    bench.judge_price = (100_000.0, 0.0)
    bench.budget = Budget(2.5)
    bench.judge_limiter = Limiter(bench.clock, 1)
    bench.judge_all((judged_work(index) for index in range(6)), concurrency=1)
    cancelled = [one for one in bench.ledger.results.values() if one.status == "cancelled"]

    assert len(bench.judge.calls) == 2
    assert sorted(bench.statuses().values()) == ["cancelled"] * 4 + ["evaluated"] * 2
    assert {one.label for one in cancelled} == {"budget"}


def test_records_beyond_the_room_wait_before_the_next_are_asked() -> None:
    bench = JudgeBench()
    bench.judge.held = asyncio.Event()
    bench.at_once = 3

    async def run() -> None:
        running = asyncio.ensure_future(bench.carry((judged_work(n) for n in range(20)), 2))
        await bench.clock.settle()
        # Three are judged, and two wait with their answers.
        assert len(bench.target.calls) == 5
        assert bench.judge.held
        bench.judge.held.set()
        await running

    asyncio.run(run())

    assert len(bench.judge.calls) == 20
    assert bench.judge.most_at_once <= 3


def test_calls_that_are_not_committed_stay_within_their_slots() -> None:
    bench = JudgeBench()
    bench.at_once = 100
    bench.judge_limiter = Limiter(bench.clock, 4)

    async def run() -> None:
        running = asyncio.ensure_future(bench.carry((judged_work(n) for n in range(40)), 40))
        await bench.clock.settle()
        bench.ledger.is_held = True
        while not running.done():
            await bench.clock.settle()
            assert len(bench.judge.calls) - len(bench.ledger.judgements) <= 16
            bench.ledger.commit()
        await running

    asyncio.run(run())

    assert len(bench.ledger.results) == 40


def test_calls_that_wait_for_a_slot_are_claimed_with_those_before_them() -> None:
    bench = JudgeBench()
    bench.at_once, bench.is_claiming = 100, True

    async def run() -> None:
        running = asyncio.ensure_future(bench.carry((judged_work(n) for n in range(40)), 40))
        bench.ledger.is_held = True
        while not running.done():
            await bench.clock.settle()
            bench.ledger.commit()
        await running

    asyncio.run(run())

    assert len(bench.judge.calls) == len(bench.ledger.results) == 40
    assert bench.ledger.claimed == 16


def test_the_state_is_retrying_while_judges_only_wait() -> None:
    bench = JudgeBench(ScriptedJudge({"r0": [fails("timeout"), "yes"]}))
    bench.judge_all([judged_work(0), judged_work(1)])

    assert bench.ledger.states == ["running", "retrying", "running"]


def test_a_judge_that_waits_is_no_retrying_run_while_others_are_asked() -> None:
    bench = JudgeBench(ScriptedJudge({"r0": [fails("timeout"), "yes"]}))
    bench.target.held = asyncio.Event()

    async def run() -> None:
        bench.target.held = None
        running = asyncio.ensure_future(bench.carry([judged_work(0), judged_work(1)], 1))
        await asyncio.sleep(0)
        bench.target.held = asyncio.Event()
        await bench.clock.settle()
        assert bench.ledger.states == ["running"]
        bench.target.held.set()
        await bench.clock.carry(_awaited(running))

    asyncio.run(run())

    assert bench.ledger.states == ["running", "retrying", "running"]


def test_judges_of_a_worker_that_is_left_alone_get_the_calls_of_the_others() -> None:
    bench, workers, most = JudgeBench(), 8, 64
    bench.at_once = 2 * most // workers
    in_flight: list[int] = []

    class Slow(ScriptedJudge):
        async def ask(self, request: Request) -> Trace:
            in_flight.append(shared.workers[0].in_flight)
            await bench.clock.sleep(1.0)
            return await super().ask(request)

    async def run() -> None:
        nonlocal shared
        shared = SharedRun(workers, most=most, clock=bench.clock)
        await bench.clock.sleep(1.0)
        for number in range(1, workers):
            shared.end(number)
        bench.judge_limiter = shared.workers[0]
        await bench.carry((judged_work(index) for index in range(400)), most)
        shared.close()

    shared: SharedRun
    bench.judges = {"judge": Slow()}
    asyncio.run(bench.clock.carry(run()))

    assert len(bench.statuses()) == 400
    assert max(in_flight) == most
