"""A run that is slow says what it waits for."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.desk_project import case, jsonl
from steelyard.engine.activity import CallActivity, Look
from steelyard.execution.run_options import RunOptions
from steelyard.project import open_project
from steelyard.usecases.runs.execute import plan_run, start_run

AGENT = """
import asyncio, pathlib

async def answer(prompt):
    here = pathlib.Path(__file__).parent
    while "nine" not in prompt and not (here / "go").exists():
        await asyncio.sleep(0.01)
    return prompt
"""
RUBRIC = """\
id: same
version: 1.0.0
checks: [{id: says, kind: must_contain_any}]
scoring: {combine: all_pass}
"""


def write_project(folder: Path) -> None:
    (folder / "waiting_agent.py").write_text(AGENT, encoding="utf-8")
    (folder / "steelyard.yaml").write_text(
        "targets: {slow: {provider: python, max_concurrency: 2, "
        "callable: 'waiting_agent:answer'}}\n",
        encoding="utf-8",
    )
    jsonl(folder / "desk.jsonl", [case(name, name, name) for name in ("nine", "b", "c")])


def test_calls_under_way_are_seen_while_they_wait(tmp_path: Path) -> None:
    write_project(tmp_path)
    looks: list[Look] = []
    seen: list[CallActivity] = []

    async def watch() -> None:
        while not looks or looks[0]().in_flight < 2:
            await asyncio.sleep(0.01)
        seen.append(looks[0]())
        (tmp_path / "go").touch()

    async def run() -> None:
        ports = replace(project.run_ports(), watch=looks.append)
        prepared = await plan_run(
            ports, RunOptions(dataset=tmp_path / "desk.jsonl", target="slow")
        )
        watching = asyncio.ensure_future(watch())
        await start_run(ports, prepared, lambda _: None, lambda _: None)
        await watching

    with open_project(tmp_path) as project:
        asyncio.run(run())

    assert seen[0].in_flight == 2
    assert seen[0].oldest_s is not None
    assert looks[0]() == CallActivity()


class Typed:
    """A command at work, whose lines of progress are read as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def line_with(self, text: str) -> str:
        """The next line with a text."""
        assert self.process.stderr
        said = ""
        for line in self.process.stderr:
            said += line
            if text in line:
                return line
        pytest.fail(f"no line with '{text}': {said}")

    def end(self) -> int:
        """Its exit code."""
        self.process.communicate()
        return self.process.returncode


@contextmanager
def typed(folder: Path, *words: str) -> Generator[Typed]:
    command = (sys.executable, "-m", "steelyard", *words)
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            yield Typed(process)
        finally:
            process.kill()


@pytest.mark.trials
def test_a_run_of_a_table_that_hangs_says_what_it_waits_for_and_a_resumed_one_what_it_has(
    tmp_path: Path,
) -> None:
    write_project(tmp_path)
    (tmp_path / "desk.csv").write_text("asked,said\nnine,nine\nb,b\nc,c\n", encoding="utf-8")
    (tmp_path / "same.yaml").write_text(RUBRIC, encoding="utf-8")
    columns = ("--input", "asked", "--expected", "said", "--rubric", "same.yaml")
    with typed(tmp_path, "run", "desk.csv", *columns, "--target", "slow") as run:
        hanging = run.line_with("the longest for")
        run.process.send_signal(signal.SIGINT)
        stopped = run.end()
    with typed(tmp_path, "resume", "latest") as resume:
        resumed = resume.line_with("kept")
        (tmp_path / "go").touch()
        finished = resume.end()

    assert (stopped, finished) == (130, 0)
    assert re.search(r"desk × slow: 1 of 3, 1 passed, 2 in flight, the longest for \d+ s", hanging)
    assert "desk × slow: 1 of 3, 1 kept, no new result yet, 2 in flight" in resumed
