"""A run that is slow says what it waits for."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from fakes.desk_project import case, jsonl
from steelyard.engine.activity import CallActivity, Look
from steelyard.execution.run_options import RunOptions
from steelyard.project import open_project
from steelyard.usecases.runs.execute import plan_run, start_run

AGENT = """
import asyncio, pathlib

async def answer(prompt):
    here = pathlib.Path(__file__).parent
    while not (here / "go").exists():
        await asyncio.sleep(0.01)
    return prompt
"""


def test_calls_under_way_are_seen_while_they_wait(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "steelyard.yaml").write_text(
        "targets: {slow: {provider: python, callable: 'agent:answer', max_concurrency: 2}}\n",
        encoding="utf-8",
    )
    jsonl(tmp_path / "desk.jsonl", [case(name, name, name) for name in "abc"])
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
