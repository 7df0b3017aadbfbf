"""The same question is asked once: while it is asked, right after, and long after."""

from __future__ import annotations

import asyncio

import pytest

from fakes.targets import ScriptedTarget, fails, trace
from fakes.work import Bench, work
from steelyard.engine import cache as caching
from steelyard.engine.answer_places import AnswerPlaces
from steelyard.engine.budget import CANCEL
from steelyard.engine.cache import AnswerCache
from steelyard.model.trace import Trace
from steelyard.ports import Prompt

ASKED = Prompt((("system", "Be short."), ("user", "When?")), "")


def nothing(_key: bytes) -> Trace | None:
    return None


@pytest.mark.parametrize(
    ("messages", "settings", "repeat"),
    [
        ((("user", "When?"),), "s", 0),
        ((("system", "Be short."), ("user", "When??")), "s", 0),
        ((("system", "Be short.When?"), ("user", "")), "s", 0),
        ((("user", "Be short."), ("system", "When?")), "s", 0),
        (ASKED.messages, "t", 0),
        (ASKED.messages, "s", 1),
    ],
)
def test_whatever_can_change_the_answer_makes_another_key(
    messages: tuple[tuple[str, str], ...], settings: str, repeat: int
) -> None:
    key = AnswerCache("s", nothing).key(ASKED, 0)

    assert AnswerCache("s", nothing).key(ASKED, 0) == key
    assert AnswerCache(settings, nothing).key(Prompt(messages, ""), repeat) != key


def test_half_a_character_is_a_question_too() -> None:
    cache = AnswerCache("s\ud800", nothing)

    assert len(cache.key(Prompt((("user", "\udfff"),), ""), 0)) == 16


def test_whoever_asks_the_same_meanwhile_waits_for_the_answer() -> None:
    async def run() -> list[Trace | None]:
        cache = AnswerCache("s", nothing)
        assert await cache.find(b"k") is None
        waiting = [asyncio.ensure_future(cache.find(b"k")) for _ in range(3)]
        await asyncio.sleep(0)
        cache.settle(b"k", trace("yes"))
        return [await one for one in waiting]

    assert [found and found.response for found in asyncio.run(run())] == ["yes"] * 3


def test_when_there_was_no_answer_one_of_those_who_waited_asks() -> None:
    async def run() -> tuple[Trace | None, Trace | None]:
        cache = AnswerCache("s", nothing)
        assert await cache.find(b"k") is None
        waiting = [asyncio.ensure_future(cache.find(b"k")) for _ in range(2)]
        await asyncio.sleep(0)
        cache.settle(b"k", None)
        first, others = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        cache.settle(b"k", trace("yes"))
        return first.pop().result(), await others.pop()

    first, second = asyncio.run(run())

    assert first is None
    assert second is not None


def test_an_old_answer_is_recalled_and_a_lost_one_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(caching, "_RECENT", 1)
    kept = {b"old": trace("yes")}
    recalled: list[bytes] = []

    def recall(key: bytes) -> Trace | None:
        recalled.append(key)
        return kept.get(key)

    async def run() -> list[Trace | None]:
        cache = AnswerCache("s", recall, [b"old", b"lost"])
        found = [await cache.find(b"old"), await cache.find(b"lost")]
        cache.settle(b"lost", trace("no"))
        # `old` is no longer among the recent ones.
        found += [await cache.find(b"lost"), await cache.find(b"old"), await cache.find(b"new")]
        return found

    found = [one.response if one else None for one in asyncio.run(run())]

    assert found == ["yes", None, "no", "yes", None]
    assert recalled == [b"old", b"lost", b"old"]


def test_a_store_that_fails_lets_nobody_wait_for_ever() -> None:
    def recall(_key: bytes) -> Trace | None:
        raise OSError("gone")

    async def run() -> None:
        cache = AnswerCache("s", recall, [b"k"])
        for _ in range(2):
            with pytest.raises(OSError, match="gone"):
                await cache.find(b"k")

    asyncio.run(run())


def test_records_with_one_question_are_all_graded_and_cost_one_call() -> None:
    bench = Bench(ScriptedTarget(otherwise="yes"))
    bench.price = (1.0, 1.0)
    bench.cache = AnswerCache("s", nothing)
    asyncio.run(bench.run([work(index) for index in range(10)]))
    results = [bench.ledger.results[index, 0] for index in range(10)]
    cached = [result for result in results if result.response_source == "cached"]

    assert len(bench.target.calls) == 1
    assert len(cached) == 9
    assert {result.status for result in results} == {"evaluated"}
    assert [(result.attempts, result.cost_usd) for result in cached] == [(0, None)] * 9
    assert len(bench.ledger.attempts) == 1
    assert sum(result.answer_key is not None for result in results) == 1


def test_a_failure_is_nobodys_answer() -> None:
    target = ScriptedTarget({"r0": [fails("bad_request")], "r1": ["yes"]})
    bench = Bench(target)
    bench.cache = AnswerCache("s", nothing)
    asyncio.run(bench.run([work(0), work(1), work(2)], concurrency=3))

    assert bench.statuses() == {0: "evaluation_error", 1: "evaluated", 2: "evaluated"}
    assert len(target.calls) == 2


def test_whoever_waits_for_anothers_answer_is_stopped_too() -> None:
    bench = Bench()
    bench.cache = AnswerCache("s", nothing)
    bench.target.held = asyncio.Event()

    async def run() -> None:
        loop = bench.loop([work(0), work(1), work(2)])
        running = asyncio.ensure_future(loop.run(3))
        await bench.clock.settle()
        loop.stop(CANCEL)
        await asyncio.wait_for(running, 120)

    asyncio.run(run())

    assert set(bench.statuses().values()) == {"cancelled"}


def test_answers_whose_places_are_known_are_recalled() -> None:
    places = AnswerPlaces()
    places.add(b"old", "run_1", 0, 0)

    async def run() -> list[bool | Trace | None]:
        cache = AnswerCache("s", {b"old": trace("yes")}.get, places)
        begun = [cache.begin(b"old"), cache.begin(b"new")]
        cache.settle(b"new", trace("no"))
        return [*begun, await cache.find(b"old"), await cache.find(b"new")]

    old, new, recalled, recent = asyncio.run(run())

    assert (old, new) == (False, True)
    assert [isinstance(one, Trace) and one.response for one in (recalled, recent)] == ["yes", "no"]
