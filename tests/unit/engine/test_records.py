"""The loop over records: asked, retried, graded, kept; none stops another."""

from __future__ import annotations

import asyncio
import math
import threading
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from fakes.ledger import MemoryLedger
from fakes.targets import ScriptedTarget, fails, trace
from fakes.work import Bench, work
from steelyard.checks.cost import Cost
from steelyard.engine.limiter import Limiter
from steelyard.errors import RunError
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.model.run import Result
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Request
from steelyard.results.attempts import Attempt


def attempts(bench: Bench, index: int = 0) -> list[Attempt]:
    return [attempt for place, attempt in bench.ledger.attempts.items() if place[0] == index]


def test_every_record_is_asked_once_graded_and_kept() -> None:
    bench = Bench(ScriptedTarget({"r1": ["no"]}))
    asyncio.run(bench.run(work(index) for index in range(3)))

    passed = {i: r.verdict and r.verdict.passed for (i, _), r in bench.ledger.results.items()}
    assert passed == {0: True, 1: False, 2: True}
    assert len(bench.target.calls) == 3
    assert sorted(result.index for result in bench.seen) == [0, 1, 2]


@pytest.mark.parametrize(
    "failure",
    [
        fails("timeout"),
        fails("bad_request"),
        RuntimeError("a bug in the target"),
        asyncio.CancelledError("the target cancelled itself"),
    ],
)
def test_one_failure_never_stops_another(failure: BaseException) -> None:
    bench = Bench(ScriptedTarget({"r1": [failure]}))
    asyncio.run(bench.run((work(index) for index in range(4)), concurrency=2))

    statuses = bench.statuses()
    assert statuses.pop(1) in {"timeout", "evaluation_error"}
    assert statuses == {0: "evaluated", 2: "evaluated", 3: "evaluated"}


@pytest.mark.parametrize(
    ("failure", "status", "label", "calls"),
    [
        (fails("timeout"), "timeout", "timeout", 3),
        (fails("rate_limited"), "evaluation_error", "rate_limited", 3),
        (fails("service_unavailable"), "evaluation_error", "service_unavailable", 3),
        (fails("internal_error"), "evaluation_error", "internal_error", 3),
        (fails("bad_request"), "evaluation_error", "bad_request", 1),
        (fails("unauthorized"), "evaluation_error", "unauthorized", 1),
        (fails("rate_limited", retry_after_s=301), "evaluation_error", "rate_limited", 1),
        (ValueError("odd"), "evaluation_error", "target_error", 1),
        (SystemExit(0), "evaluation_error", "target_error", 1),
    ],
)
def test_a_record_that_keeps_failing_ends_with_its_code(
    failure: BaseException, status: str, label: str, calls: int
) -> None:
    bench = Bench(ScriptedTarget({"r0": [failure]}))
    asyncio.run(bench.run([work(0)]))

    result = bench.ledger.results[0, 0]
    assert (result.status, result.label, result.attempts) == (status, label, calls)
    assert (result.trace, result.verdict) == (None, None)
    assert len(bench.target.calls) == len(attempts(bench)) == calls
    assert str(failure) in result.message


def test_a_record_that_recovers_is_evaluated_with_all_its_attempts() -> None:
    bench = Bench(ScriptedTarget({"r0": [fails("timeout"), fails("rate_limited"), "yes"]}))
    asyncio.run(bench.run([work(0)]))

    result = bench.ledger.results[0, 0]
    made = attempts(bench)
    assert (result.status, result.label, result.attempts) == ("evaluated", None, 3)
    assert [attempt.error_code for attempt in made] == ["timeout", "rate_limited", None]
    assert [attempt.attempt for attempt in made] == [1, 2, 3]
    assert result.first_attempt_at == made[0].at
    assert result.last_attempt_at == made[2].at
    assert made[2].retry_in_s is None


def test_the_wait_that_is_noted_is_the_wait_that_is_kept() -> None:
    bench = Bench(ScriptedTarget({"r0": [fails("timeout"), "yes"]}))
    asyncio.run(bench.run([work(0)]))

    waited = attempts(bench)[0].retry_in_s
    assert waited is not None
    assert 1.6 <= waited <= 2.4
    assert bench.clock.elapsed == pytest.approx(waited, abs=0.001)


def test_the_wait_that_is_noted_is_that_of_the_record_whoever_holds_the_target_back() -> None:
    """A `Retry-After` of one record delays the others, whose own waits stay what they are."""
    refused = fails("rate_limited", retry_after_s=30.0)
    bench = Bench(ScriptedTarget({"r0": [fails("timeout"), "yes"], "r1": [refused, "yes"]}))
    asyncio.run(bench.run([work(0), work(1)]))
    own, held = attempts(bench), attempts(bench, 1)

    assert own[0].retry_in_s is not None
    assert 1.6 <= own[0].retry_in_s <= 2.4
    assert held[0].retry_in_s == 30.0
    assert own[1].at == held[1].at == "2026-01-15T12:00:30.000+00:00"


def test_an_attempt_is_kept_before_the_next_one_starts() -> None:
    bench = Bench()
    seen: list[int] = []

    class Watching(ScriptedTarget):
        async def ask(self, request: Request) -> Trace:
            seen.append(len(bench.ledger.attempts))
            return await super().ask(request)

    bench.target = Watching(otherwise=fails("internal_error"))
    asyncio.run(bench.run([work(0)]))

    assert seen == [0, 1, 2]


def test_while_a_record_waits_others_are_asked() -> None:
    bench = Bench(ScriptedTarget({"r0": [fails("timeout"), "yes"]}))
    asyncio.run(bench.run((work(index) for index in range(5)), concurrency=1))

    asked = [request.case.id for request in bench.target.calls]
    assert asked == ["r0", "r1", "r2", "r3", "r4", "r0"]


def test_a_record_with_earlier_attempts_goes_on_counting() -> None:
    bench = Bench(ScriptedTarget({"r0": [fails("timeout")]}))
    earlier = work(0, attempt=3)
    earlier = replace(earlier, record=replace(earlier.record, first_attempt_at="long ago"))
    asyncio.run(bench.run([earlier]))

    result = bench.ledger.results[0, 0]
    assert (result.attempts, result.first_attempt_at) == (3, "long ago")
    assert bench.target.calls[0].attempt == 3
    assert len(bench.target.calls) == 1


def test_a_result_that_is_known_already_is_kept_without_a_call() -> None:
    bench = Bench()
    asyncio.run(bench.run([Result(index=0, record_id=None, status="invalid_record"), work(1)]))

    assert bench.statuses() == {0: "invalid_record", 1: "evaluated"}
    assert len(bench.target.calls) == 1


@dataclass(frozen=True)
class Odd:
    """A check that gives an outcome, or breaks."""

    kind: ClassVar[str] = "odd"
    outcome: Outcome | None = None

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002 - it looks at nothing
        if self.outcome is None:
            raise ZeroDivisionError
        return self.outcome


@pytest.mark.parametrize(
    ("check", "status"),
    [
        (Odd(), "evaluation_error"),
        (Odd(Outcome.unscored("no luck")), "evaluation_error"),
        (Odd(Outcome.skipped("never applies")), "skipped"),
    ],
)
def test_an_answer_without_a_score_is_kept_with_the_reason(check: Odd, status: str) -> None:
    rubric = Rubric(id="r", version="1.0.0", checks=(RubricCheck(id="c", check=check),))
    bench = Bench()
    asyncio.run(bench.run([replace(work(0), rubric=rubric)]))

    result = bench.ledger.results[0, 0]
    assert (result.status, result.label) == (status, status)
    assert result.message.startswith("c: ")
    assert result.trace is not None


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(input_tokens=1000, output_tokens=500), 0.0045),
        (Usage(input_tokens=1000), None),
        (Usage(output_tokens=500), None),
    ],
)
def test_a_cost_needs_a_price_and_both_counts(usage: Usage, cost: float | None) -> None:
    bench = Bench(ScriptedTarget({"r0": [replace(trace("yes"), usage=usage)]}))
    bench.price = (1.5, 6.0)
    asyncio.run(bench.run([work(0)]))

    kept = bench.ledger.results[0, 0]
    assert kept.cost_usd == (None if cost is None else pytest.approx(cost))
    assert attempts(bench)[0].input_tokens == usage.input_tokens


@pytest.mark.parametrize(("most", "passed"), [(1.0, True), (0.99, False)])
def test_a_check_may_look_at_what_an_answer_cost(most: float, passed: bool) -> None:
    check = RubricCheck(id="c", check=Cost(max_usd=most))
    bench = Bench()
    bench.price = (0.0, 200_000.0)  # a dollar an answer, which has five tokens
    rubric = Rubric(id="r", version="1.0.0", checks=(check,))
    asyncio.run(bench.run([replace(work(0), rubric=rubric)]))
    result = bench.ledger.results[0, 0]

    assert result.cost_usd == 1.0
    assert result.verdict
    assert result.verdict.passed is passed


def test_without_a_price_there_is_no_cost() -> None:
    bench = Bench()
    asyncio.run(bench.run([work(0)]))

    assert bench.ledger.results[0, 0].cost_usd is None


def test_a_recording_without_a_time_has_none() -> None:
    bench = Bench(ScriptedTarget({"r0": [trace("yes", latency_ms=None)], "r1": [OSError("x")]}))
    items = [
        replace(item, record=replace(item.record, response_source="prefilled"))
        for item in (work(0), work(1))
    ]
    asyncio.run(bench.run(items))
    kept = bench.ledger.results[0, 0].trace

    assert kept is not None
    assert kept.latency_ms is None
    assert [attempt.latency_ms for attempt in bench.ledger.attempts.values()] == [None, None]


@dataclass(frozen=True)
class Slow:
    """A check that runs a program, which ends when another record has been kept."""

    kind: ClassVar[str] = "slow"
    runs_commands: ClassVar[bool] = True
    is_kept: threading.Event

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002 - it looks at nothing
        return Outcome.passing("in time") if self.is_kept.wait(120) else Outcome.failing("late")


def test_a_check_that_runs_a_program_keeps_nobody_waiting() -> None:
    is_kept = threading.Event()
    rubric = Rubric(id="r", version="1.0.0", checks=(RubricCheck(id="c", check=Slow(is_kept)),))
    bench = Bench()
    bench.on_result = lambda result: is_kept.set() if result.index == 1 else None
    asyncio.run(bench.run([replace(work(0), rubric=rubric), work(1)]))
    verdict = bench.ledger.results[0, 0].verdict

    assert verdict is not None
    assert verdict.passed


def test_a_target_that_measures_no_time_is_timed_by_the_loop() -> None:
    bench = Bench(ScriptedTarget({"r0": [trace("yes", latency_ms=None)]}))
    bench.target.held = asyncio.Event()

    async def run() -> None:
        running = asyncio.ensure_future(bench.loop([work(0)]).run(1))
        await bench.clock.settle()
        bench.clock.move(0.25)
        assert bench.target.held
        bench.target.held.set()
        await running

    asyncio.run(run())
    kept = bench.ledger.results[0, 0].trace

    assert kept is not None
    assert kept.latency_ms == attempts(bench)[0].latency_ms == 250.0


@pytest.mark.parametrize(("counts_tokens", "elapsed"), [(True, 120.0), (False, 0.0)])
def test_tokens_are_paced_by_what_a_target_counts(counts_tokens: bool, elapsed: float) -> None:
    """A short prompt is estimated at no token, and its answer is counted all the same."""
    bench = Bench()
    bench.counts_tokens = counts_tokens
    limiter = Limiter(bench.clock, 1, tokens_per_minute=15)

    async def run() -> None:
        await bench.clock.carry(bench.loop((work(n) for n in range(3)), limiter=limiter).run(1))

    asyncio.run(run())

    assert bench.clock.elapsed == pytest.approx(elapsed)


def test_a_refused_call_makes_the_target_get_fewer() -> None:
    bench = Bench(ScriptedTarget({"r0": [fails("rate_limited", retry_after_s=5), "yes"]}))
    limiter = Limiter(bench.clock, 16)

    async def run() -> None:
        await bench.clock.carry(bench.loop((work(n) for n in range(9)), limiter=limiter).run(8))

    asyncio.run(run())

    assert limiter.at_once < 16
    assert bench.clock.elapsed == pytest.approx(5)
    assert set(bench.statuses().values()) == {"evaluated"}


def test_a_recorded_refusal_without_an_end_holds_nobody() -> None:
    bench = Bench(ScriptedTarget({"r0": [fails("rate_limited", retry_after_s=math.inf)]}))
    asyncio.run(bench.run((work(n) for n in range(4)), concurrency=1))

    assert bench.statuses()[0] == "evaluation_error"
    assert bench.clock.elapsed == 0


def test_the_state_is_retrying_only_while_nothing_but_retries_is_left() -> None:
    bench = Bench(ScriptedTarget({"r0": [fails("timeout"), fails("timeout"), "yes"]}))
    asyncio.run(bench.run([work(0), work(1)]))

    assert bench.ledger.states == ["running", "retrying", "running", "retrying", "running"]


def test_a_run_that_was_stopped_in_retrying_goes_on_running() -> None:
    bench = Bench(ledger=MemoryLedger("retrying"))

    async def run() -> None:
        await bench.clock.carry(bench.loop([work(0)], "retrying").run(1))

    asyncio.run(run())

    assert bench.ledger.states == ["retrying", "running"]


def test_a_state_that_cannot_be_kept_ends_the_run() -> None:
    bench = Bench(
        ScriptedTarget({"r0": [fails("timeout"), "yes"]}), ledger=MemoryLedger("finalizing")
    )

    with pytest.raises(RunError, match="cannot go from finalizing to retrying"):
        asyncio.run(bench.run([work(0)]))
