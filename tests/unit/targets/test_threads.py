"""Threads for calls that block; nobody has to wait for one that hangs."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
import time

import pytest

from steelyard.targets.threads import Threads

HANGS = """
import asyncio, time
from steelyard.targets.threads import Threads

async def main():
    try:
        async with asyncio.timeout(0.05):
            await Threads("hangs").call(lambda: time.sleep(600))
    except TimeoutError:
        print("late")

asyncio.run(main())
"""
LANGUAGE = contextvars.ContextVar("LANGUAGE", default="none")


def mine(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


def test_gives_back_what_is_returned_and_what_is_raised() -> None:
    async def main() -> int:
        threads = Threads("pair")
        with pytest.raises(ZeroDivisionError):
            await threads.call(lambda: 1 // 0)
        return await threads.call(lambda: 41 + 1)

    assert asyncio.run(main()) == 42


def test_a_thread_is_used_again_and_ends_when_closed() -> None:
    async def main() -> int:
        threads = Threads("again")
        for _ in range(5):
            await threads.call(lambda: None)
        count = len(mine("again"))
        threads.close()
        return count

    assert asyncio.run(main()) == 1
    for thread in mine("again"):
        thread.join(120)
    assert mine("again") == []


def test_the_function_sees_the_context_of_its_caller() -> None:
    async def main() -> str:
        LANGUAGE.set("de")
        return await Threads("context").call(LANGUAGE.get)

    assert asyncio.run(main()) == "de"


def test_an_answer_that_comes_after_a_timeout_is_dropped() -> None:
    has_answered = threading.Event()

    def answer_late() -> None:
        time.sleep(0.06)
        has_answered.set()

    async def main() -> str:
        threads = Threads("late")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await threads.call(answer_late)
        await asyncio.to_thread(has_answered.wait, 120)
        await asyncio.sleep(0.1)
        return await threads.call(lambda: "next")

    assert asyncio.run(main()) == "next"
    assert len(mine("late")) <= 1


def test_an_answer_that_comes_after_the_loop_is_dropped() -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await Threads("orphan").call(lambda: time.sleep(0.1))

    asyncio.run(main())
    for thread in mine("orphan"):
        thread.join(120)

    assert mine("orphan") == []


def test_the_program_ends_though_a_call_hangs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGS], capture_output=True, text=True, check=False, timeout=120
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "late\n", "")
