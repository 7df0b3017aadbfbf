"""Calls to judges: their keys, secrets, replies, and what is not asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from fakes.judges import JUDGE, JudgeBench, ScriptedJudge, judged_work
from fakes.targets import fails, trace
from steelyard.engine.budget import deadline_stop
from steelyard.engine.cache import AnswerCache
from steelyard.engine.judging.judge_calls import KeptBefore, RecordAsker, call_key
from steelyard.engine.judging.judge_probe import PROBE_SCHEMA, probe_endpoints
from steelyard.engine.judging.judge_targets import Endpoint
from steelyard.engine.limiter import Limiter
from steelyard.engine.phase import Phase
from steelyard.errors import RunError, TargetError
from steelyard.judging.fingerprint import fingerprint
from steelyard.model.judgement import JudgeCall, Reply, TokenChoice
from steelyard.model.run import Judging, PlannedRecord
from steelyard.model.trace import Trace
from steelyard.ports import Judged, Request

CALL = JudgeCall(
    judge=JUDGE,
    messages=(("system", "Be fair."), ("user", "Is <n0>it</n0> right?")),
    schema={"type": "object"},
    identity="identity",
    nonce="n0",
)
ENFORCED = '{"colour": "vexiloquar-7"}'


def during(bench: JudgeBench, use: Callable[[RecordAsker], Awaitable[Any]], index: int = 0) -> Any:
    """What somebody makes of the asker of a record."""

    async def run() -> Any:
        bench.calls = bench.made(bench.around(), Phase("running", bench.ledger.move))
        record = PlannedRecord(index=index, record_id=f"r{index}", target="t")
        return await bench.clock.carry(_used(use, bench.calls.of(record, KeptBefore())))

    return asyncio.run(run())


async def _used(use: Callable[[RecordAsker], Awaitable[Any]], asker: RecordAsker) -> Any:
    return await use(asker)


def asked(bench: JudgeBench, call: JudgeCall = CALL) -> Reply:
    return during(bench, lambda asker: asker.within("right").ask(call))


def test_a_reply_says_who_gave_it() -> None:
    said = replace(trace("yes"), model="m-1-exact", finish_reason="stop", refusal="no")
    bench = JudgeBench(ScriptedJudge({"r0": [said]}))
    bench.judge_price = (1.0, 1.0)
    reply = asked(bench)

    assert (reply.text, reply.target, reply.model) == ("yes", "judge", "m-1-exact")
    assert (reply.finish_reason, reply.refusal, reply.is_enforced) == ("stop", "no", False)
    assert reply.cost_usd == pytest.approx(0.000015)
    assert reply.fingerprint == fingerprint("identity", "m-1", {"seed": 1})
    assert reply.logprobs == ()


def test_a_judge_that_measures_no_time_is_timed_and_paced() -> None:
    bench = JudgeBench(ScriptedJudge({"r0": [trace("yes", latency_ms=None)]}))
    bench.judge_limiter = Limiter(bench.clock, 1, requests_per_minute=1)

    async def use(asker: RecordAsker) -> None:
        await asyncio.gather(*(asker.ask(replace(CALL, item=name)) for name in "ab"))

    during(bench, use)
    made = [one.latency_ms for one in bench.ledger.attempts.values()]

    assert made == [0.0, 0.0]
    assert bench.clock.elapsed == pytest.approx(60.0)


def test_a_stop_ends_the_wait_for_a_turn() -> None:
    bench = JudgeBench()
    bench.judge_limiter = Limiter(bench.clock, 1)

    async def use(asker: RecordAsker) -> list[Reply | BaseException]:
        bench.judge.held = asyncio.Event()
        calls = (replace(CALL, item=name) for name in "ab")
        asking = [asyncio.ensure_future(asker.ask(one)) for one in calls]
        await bench.clock.settle()
        assert bench.calls
        bench.calls.stop(deadline_stop(5))
        bench.judge.held.set()
        return await asyncio.gather(*asking, return_exceptions=True)

    first, second = during(bench, use)

    assert isinstance(first, Reply)
    assert isinstance(second, TargetError)
    assert len(bench.judge.calls) == 1


def test_probabilities_of_tokens_come_with_a_reply() -> None:
    rows: list[Any] = [
        {"token": "y", "logprobs": {"y": -0.1, "n": -2.0}},
        {"token": "es", "logprobs": {}},
    ]
    said = replace(trace("yes"), extra={"logprobs": [*rows, "odd"]})
    reply = asked(JudgeBench(ScriptedJudge({"r0": [said]})))

    assert reply.logprobs == (
        TokenChoice("y", {"y": -0.1, "n": -2.0}),
        TokenChoice("es", {}),
    )


def test_a_secret_belongs_to_a_record_a_check_and_a_purpose() -> None:
    async def secrets(asker: RecordAsker) -> list[bytes]:
        one, other = asker.within("a"), asker.within("b")
        both = [asker.within("a").within("b"), asker.within("a/b")]
        named = [one.secret("x"), one.secret("y"), other.secret("x"), asker.secret("x")]
        return [*named, *(within.secret("x") for within in both), one.secret("x")]

    first, second = (during(JudgeBench(), secrets, index) for index in (0, 1))

    assert len(set(first)) == 5
    assert first[0] == first[-1]
    assert first[4] == first[5]
    assert not set(first) & set(second)


@pytest.mark.parametrize(
    "change",
    [
        {"item": "q"},
        {"turn": 1},
        {"sample": 1},
        {"round": 1},
        {"judge": replace(JUDGE, version="1.0.1")},
    ],
)
def test_the_key_of_a_call_tells_what_is_asked(change: dict[str, Any]) -> None:
    other = replace(CALL, **change)

    assert call_key("right", CALL, "judge") != call_key("right", other, "judge")


def test_the_key_of_a_call_tells_check_and_target_and_not_the_words() -> None:
    worded = replace(CALL, messages=(("user", "other"),), nonce="n1")
    key = call_key("right", CALL, "judge")

    assert key == call_key("right", worded, "judge")
    assert key != call_key("left", CALL, "judge")
    assert key != call_key("right", CALL, "other")
    assert key > "target"


def cached(bench: JudgeBench, known: dict[bytes, Trace] | None = None) -> AnswerCache:
    stored = known or {}
    bench.judge_cache = AnswerCache("settings", stored.get, stored)
    return bench.judge_cache


def test_a_question_that_was_asked_before_is_not_asked_again() -> None:
    bench = JudgeBench()
    bench.judge_price = (1.0, 1.0)
    cached(bench)
    calls = [replace(CALL, item=str(number)) for number in range(3)]

    async def use(asker: RecordAsker) -> tuple[list[Reply], Judging]:
        replies = await asyncio.gather(*(asker.ask(call) for call in calls))
        return list(replies), asker.record.judging()

    replies, judging = during(bench, use)

    assert len(bench.judge.calls) == 1
    assert {reply.text for reply in replies} == {"yes"}
    assert (judging.calls, judging.cached) == (1, 2)
    assert judging.cost_usd == pytest.approx(0.000015)
    assert judging.saved_usd == pytest.approx(0.00003)
    assert sum(one.is_cached for one in bench.ledger.judgements.values()) == 2
    assert len([one for one in bench.ledger.judgements.values() if one.cache_key]) == 1


def test_what_an_earlier_run_was_told_counts() -> None:
    bench = JudgeBench()
    cached(bench)
    asked(bench)
    (key,) = [one.cache_key for one in bench.ledger.judgements.values() if one.cache_key]
    again = JudgeBench()
    cached(again, {key: trace("no")})

    assert asked(again, replace(CALL, messages=_with("n9"), nonce="n9")).text == "no"
    assert again.judge.calls == []


def _with(nonce: str) -> tuple[tuple[str, str], ...]:
    return tuple((role, text.replace("n0", nonce)) for role, text in CALL.messages)


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (("user", "Is <n0>that</n0> right?"),)},
        {"schema": {"type": "array"}},
        {"sample": 1},
        {"round": 1},
        {"wants_logprobs": True},
    ],
)
def test_another_question_is_asked(change: dict[str, Any]) -> None:
    bench = JudgeBench()
    cached(bench)

    async def use(asker: RecordAsker) -> None:
        await asker.ask(CALL)
        await asker.ask(replace(CALL, item="other", **change))

    during(bench, use)

    assert len(bench.judge.calls) == 2


def test_a_call_that_failed_is_asked_by_the_next_who_wants_to_know() -> None:
    bench = JudgeBench(ScriptedJudge({"r0": [fails("bad_request"), "yes"]}))
    cached(bench)

    async def use(asker: RecordAsker) -> list[Reply | BaseException]:
        calls = (CALL, replace(CALL, item="other"))
        return await asyncio.gather(*(asker.ask(one) for one in calls), return_exceptions=True)

    first, second = during(bench, use)

    assert isinstance(first, TargetError)
    assert isinstance(second, Reply)


def test_a_stop_ends_the_wait_for_what_another_asks() -> None:
    bench = JudgeBench()
    cached(bench)

    async def use(asker: RecordAsker) -> list[Reply | BaseException]:
        bench.judge.held = asyncio.Event()
        calls = (CALL, replace(CALL, item="other"))
        asking = [asyncio.ensure_future(asker.ask(one)) for one in calls]
        await bench.clock.settle()
        assert bench.calls
        bench.calls.stop(deadline_stop(5))
        bench.calls.stop(deadline_stop(6))
        await bench.clock.settle()
        bench.judge.held.set()
        return await asyncio.gather(*asking, return_exceptions=True)

    first, second = during(bench, use)

    assert isinstance(first, Reply)
    assert isinstance(second, TargetError)
    assert second.code == "interrupted"


JUDGED = Judged({}, True, True, "t", "right", "judge/fair@1.0.0", None, None, 0, 0)


@pytest.mark.parametrize(
    ("status", "said", "sent", "is_downgraded", "left"),
    [
        (400, "response_format is not supported", JUDGED, True, (False, True)),
        (422, "Invalid JSON_SCHEMA", JUDGED, True, (False, True)),
        (400, "unknown field output_config", JUDGED, True, (False, True)),
        (400, "failed to parse grammar", JUDGED, True, (False, True)),
        (400, "logprobs are not available", JUDGED, True, (True, False)),
        (400, "the prompt is too long", JUDGED, False, (True, True)),
        (500, "response_format is not supported", JUDGED, False, (True, True)),
        (None, "response_format is not supported", JUDGED, False, (True, True)),
        (400, "bad schema", JUDGED._replace(is_held=False), False, (True, True)),
        (400, "no logprobs", JUDGED._replace(wants_logprobs=False), False, (True, True)),
    ],
)
def test_what_an_endpoint_refuses_is_not_asked_of_it_again(
    status: int | None,
    said: str,
    sent: Judged,
    is_downgraded: bool,
    left: tuple[bool, bool],
) -> None:
    endpoint = Endpoint(can_hold=True)
    error = TargetError("bad_request", said, http_status=status)

    assert endpoint.is_downgraded(error, sent) is is_downgraded
    assert (endpoint.is_held, endpoint.gives_logprobs) == left


def refuses_schemas(request: Request) -> TargetError | None:
    if request.judged and request.judged.is_held:
        return TargetError("bad_request", "HTTP 400: response_format?", http_status=400)
    return None


class Plain(ScriptedJudge):
    """An endpoint that refuses a schema."""

    async def ask(self, request: Request) -> Trace:
        """An answer to a call without one."""
        error = refuses_schemas(request)
        if error:
            self.calls.append(request)
            raise error
        return await super().ask(request)


class Ending(ScriptedJudge):
    """A judge whose code ends the program."""

    async def ask(self, request: Request) -> Trace:
        """Never an answer."""
        self.calls.append(request)
        raise SystemExit(0)


def test_a_judge_that_ends_the_program_fails_its_call_alone() -> None:
    bench = JudgeBench(Ending())

    with pytest.raises(TargetError, match="SystemExit: 0") as told:
        asked(bench)
    assert told.value.code == "target_error"


def test_a_refused_schema_costs_one_more_call_and_is_remembered() -> None:
    bench = JudgeBench(Plain())
    bench.endpoint = Endpoint(can_hold=True)
    bench.judge_all(judged_work(index) for index in range(6))

    held = [bool(request.judged and request.judged.is_held) for request in bench.judge.calls]
    assert set(bench.statuses().values()) == {"evaluated"}
    assert held[-1] is False
    assert held.count(True) <= 4
    assert held.count(False) == 6
    made = [one for one in bench.ledger.attempts.values() if one.is_judging]
    assert {one.retry_in_s for one in made if one.error_code} == {0.0}


@pytest.mark.parametrize(
    ("said", "is_enforced", "is_held"),
    [(ENFORCED, True, True), ('{"colour": "blue"}', False, False), (fails("timeout"), None, True)],
)
def test_an_endpoint_is_probed_once_before_it_judges(
    said: Any, is_enforced: bool | None, is_held: bool
) -> None:
    bench = JudgeBench(ScriptedJudge({"": [said]}))
    bench.endpoint = Endpoint(id="e1", can_hold=True)

    async def use(asker: RecordAsker) -> Reply:
        assert bench.calls
        await probe_endpoints(bench.calls, KeptBefore())
        return await asker.ask(CALL)

    reply = during(bench, use)
    probes = [a for a in bench.ledger.attempts.values() if a.call == "probe"]

    assert (bench.endpoint.is_enforced, bench.endpoint.is_held) == (is_enforced, is_held)
    assert reply.is_enforced is bool(is_enforced)
    assert bench.judge.calls[0].judged is not None
    assert bench.judge.calls[0].judged.schema == PROBE_SCHEMA
    assert [probe.index for probe in probes] == [None] * len(probes)
    assert len(probes) == (3 if is_enforced is None else 1)


def test_what_a_probe_has_shown_is_not_asked_again() -> None:
    first = JudgeBench(ScriptedJudge({"": [ENFORCED]}))
    second = JudgeBench()
    for bench in (first, second):
        bench.endpoint = Endpoint(id="e1", can_hold=True)

    async def use(bench: JudgeBench, before: KeptBefore) -> None:
        assert bench.calls
        await probe_endpoints(bench.calls, before)

    during(first, lambda _: use(first, KeptBefore()))
    kept = KeptBefore({one.key: one for one in first.ledger.judgements.values()})
    during(second, lambda _: use(second, kept))

    assert second.judge.calls == []
    assert second.endpoint.is_enforced is True


def test_a_schema_that_the_probe_is_refused_for_is_not_sent() -> None:
    bench = JudgeBench(Plain())
    bench.endpoint = Endpoint(id="e1", can_hold=True)

    async def use(_: RecordAsker) -> None:
        assert bench.calls
        await probe_endpoints(bench.calls, KeptBefore())

    during(bench, use)

    assert bench.endpoint.is_enforced is False


@pytest.mark.parametrize("can_hold", [True, False])
def test_two_targets_at_one_endpoint_are_probed_once_and_others_never(can_hold: bool) -> None:
    bench = JudgeBench(ScriptedJudge(name="one"), ScriptedJudge(name="two"))
    bench.endpoint = Endpoint(id="e1", can_hold=can_hold)

    async def use(_: RecordAsker) -> None:
        assert bench.calls
        await probe_endpoints(bench.calls, KeptBefore())

    during(bench, use)

    assert sum(len(judge.calls) for judge in bench.judges.values()) == int(can_hold)


def test_a_probe_that_cannot_be_kept_is_the_end_of_the_run() -> None:
    bench = JudgeBench()
    bench.endpoint = Endpoint(id="e1", can_hold=True)
    bench.ledger.error = RunError("the disk is full")

    async def use(_: RecordAsker) -> None:
        assert bench.calls
        await probe_endpoints(bench.calls, KeptBefore())

    with pytest.raises(RunError, match="the disk is full"):
        during(bench, use)
