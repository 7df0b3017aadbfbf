"""Real worker processes, as far as they come without a run."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from steelyard.engine.sharing.messages import PaceGranted
from steelyard.execution.parts import Part
from steelyard.execution.ports import HolderQuestion, WorkerNeeds
from steelyard.store.worker_processes import WorkerProcess, WorkerProcesses
from steelyard.targets.processes.supervisor import descendants


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project without runs."""
    (tmp_path / "steelyard.yaml").write_text("targets: {}\n", encoding="utf-8")
    return tmp_path


async def ended(worker: WorkerProcess) -> tuple[object, int]:
    try:
        return await worker.read(), await worker.wait()
    finally:
        worker.close()


def test_a_process_that_cannot_begin_says_why_and_ends(root: Path) -> None:
    worker_pool = WorkerProcesses(root)
    worker_pool.warm(1)
    worker = worker_pool.start("run_1", Part(0, 2), ["live"], WorkerNeeds({"GPU": 1}))
    said, code = asyncio.run(ended(worker))

    assert isinstance(said, HolderQuestion)
    assert (said.kind, code) == ("failed", 3)
    assert said.why.startswith("no run 'run_1' in this project")


def test_a_process_that_nobody_gives_work_ends_in_peace(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    worker = WorkerProcess(root)
    worker.terminate()

    assert asyncio.run(ended(worker)) == (b"", 0)
    assert capfd.readouterr() == ("", "")


def test_a_process_that_is_killed_ends_with_its_signal(root: Path) -> None:
    worker = WorkerProcess(root)
    worker.kill()
    worker.confirm()  # whoever is gone does not hear it, and nobody minds
    worker.cancel()

    assert asyncio.run(ended(worker)) == (b"", -signal.SIGKILL)


def test_a_process_that_was_asked_to_end_is_told_nothing_more(root: Path) -> None:
    """Others may still want to tell it something, such as a change of its limits."""
    news = PaceGranted(
        target="live", number=1, calls=1, tokens=1, begin_s=0, spread_s=1, until_s=1, waited_s=0
    )
    worker = WorkerProcess(root)
    worker.terminate()
    worker.answer(HolderQuestion("limits"), news)
    worker.confirm()
    worker.stop()

    assert asyncio.run(ended(worker)) == (b"", 0)


def children() -> set[int]:
    """The processes that this one has started and not seen off."""
    return set(descendants(os.getpid()))


def test_processes_for_which_there_was_no_work_are_ended(root: Path) -> None:
    before = children()
    worker_pool = WorkerProcesses(root)
    worker_pool.warm(2)
    started = children() - before
    worker_pool.close()
    worker_pool.close()

    assert len(started) == 2
    assert not started & children()
