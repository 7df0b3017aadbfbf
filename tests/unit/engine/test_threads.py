"""Work beside the event loop: its answer comes back, and nobody has to wait for it."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading

import pytest

from steelyard.engine.threads import AT_ONCE, in_thread

word: contextvars.ContextVar[str] = contextvars.ContextVar("word")


def test_the_answer_comes_from_another_thread_with_the_same_context() -> None:
    def answer(number: int, *, name: str) -> tuple[int, str, str, bool]:
        return number, name, word.get(), threading.current_thread() is threading.main_thread()

    async def run() -> tuple[int, str, str, bool]:
        word.set("here")
        return await in_thread(answer, 1, name="a")

    assert asyncio.run(run()) == (1, "a", "here", False)


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
def test_what_is_raised_belongs_to_the_caller(error: BaseException) -> None:
    def fail() -> None:
        raise error

    async def run() -> BaseException | None:
        try:
            await in_thread(fail)
        except (Exception, SystemExit, KeyboardInterrupt) as raised:  # noqa: BLE001 - any of them
            return raised
        return None

    assert asyncio.run(run()) is error


def test_no_more_than_so_many_go_on_at_once_and_all_have_their_turn() -> None:
    lock, now, most = threading.Lock(), 0, 0
    is_full = threading.Event()

    def work(number: int) -> int:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
            if now == AT_ONCE:
                is_full.set()
        is_full.wait(120)
        with lock:
            now -= 1
        return number

    async def run() -> list[int]:
        return await asyncio.gather(*(in_thread(work, number) for number in range(3 * AT_ONCE)))

    assert asyncio.run(run()) == list(range(3 * AT_ONCE))
    assert most == AT_ONCE


def test_what_nobody_waits_for_any_more_is_not_begun_and_harms_nobody() -> None:
    go_on = threading.Event()
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        go_on.wait(120)

    async def run() -> str:
        calls = [asyncio.ensure_future(in_thread(work, number)) for number in range(AT_ONCE + 2)]
        while len(begun) < AT_ONCE:
            await asyncio.sleep(0.005)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        go_on.set()
        return await in_thread(lambda: "well")

    assert asyncio.run(run()) == "well"
    assert len(begun) == AT_ONCE


STOPPED = """
import asyncio, threading
from steelyard.engine.threads import in_thread

async def run():
    begun = threading.Event()
    def work():
        begun.set()
        threading.Event().wait(60)
    call = asyncio.ensure_future(in_thread(work))
    while not begun.is_set():
        await asyncio.sleep(0.005)
    call.cancel()

asyncio.run(run())
print("out", flush=True)
"""


def test_neither_the_loop_nor_the_program_waits_for_work_that_was_given_up() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], capture_output=True, text=True, timeout=120, check=True
    )

    assert (done.stdout, done.stderr) == ("out\n", "")


def test_a_loop_that_is_gone_is_left_alone() -> None:
    go_on, is_over = threading.Event(), threading.Event()

    def work() -> None:
        go_on.wait(120)
        is_over.set()

    async def run() -> None:
        asyncio.ensure_future(in_thread(work))  # noqa: RUF006 - nobody waits for it
        await asyncio.sleep(0.01)

    asyncio.run(run())
    go_on.set()

    assert is_over.wait(120)
    assert asyncio.run(in_thread(lambda: "well")) == "well"
