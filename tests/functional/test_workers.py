"""Several processes share a run; one that dies is replaced, and nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from checker import check_run
from fakes.warm_command import COVERAGE
from servers.openai_server import COMPLETION, says, serving

COUNT = 300
AGENT = """\
import os, time

def answer(prompt):
    with open("calls.txt", "a") as stream:
        stream.write(f"{os.getpid()} {prompt}\\n")
    while is_held():
        time.sleep(0.02)
    return "yes"

def is_held():
    try:
        with open("hold") as free, open("calls.txt") as made:
            return len(made.readlines()) > int(free.read())
    except FileNotFoundError:
        return False
"""
"""Calls beyond the number in `hold` wait until that file is gone."""


def write_project(root: Path, settings: str = "") -> None:
    agent = 'targets: {agent: {provider: python, callable: "agent:answer"}}\n'
    rows = (
        {
            "id": f"c{number}",
            "expected_outcome": "Yes.",
            "input": f"question {number}",
            "evaluators": [{"type": "equals", "value": "yes"}],
        }
        for number in range(COUNT)
    )
    (root / "agent.py").write_text(AGENT, encoding="utf-8")
    (root / "steelyard.yaml").write_text(settings or agent, encoding="utf-8")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (root / "d.jsonl").write_text(lines, encoding="utf-8")


def started(root: Path, *words: str, held_after: int | None = None) -> subprocess.Popen[str]:
    """A run; with so many calls before the others wait."""
    if held_after is not None:
        (root / "hold").write_text(str(held_after), encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-m", "steelyard", "run", "d.jsonl", "--format", "json", *words],
        cwd=root,
        env={**os.environ, **COVERAGE},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def calls(root: Path) -> list[tuple[str, str]]:
    try:
        text = (root / "calls.txt").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [
        (pid, prompt) for pid, _, prompt in (line.partition(" ") for line in text.splitlines())
    ]


def wait_for_calls(root: Path, count: int, *, processes: int = 1) -> None:
    """Wait until so many calls are made, by so many processes."""
    deadline = time.monotonic() + 120
    while len(made := calls(root)) < count or len({pid for pid, _ in made}) < processes:
        assert time.monotonic() < deadline, made
        time.sleep(0.02)


def is_there(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


def told(process: subprocess.Popen[str]) -> dict[str, Any]:
    output, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return json.loads(output)


def test_two_processes_share_the_records_of_a_run(tmp_path: Path) -> None:
    write_project(tmp_path)
    process = started(tmp_path, "--target", "agent", "--workers", "2", held_after=0)
    wait_for_calls(tmp_path, 2, processes=2)
    (tmp_path / "hold").unlink()
    run = told(process)
    made = calls(tmp_path)

    check_run(Path(run["artifacts"]))
    assert run["metrics"]["pass_count"] == COUNT
    assert len(Counter(pid for pid, _ in made)) == 2
    assert Counter(prompt for _, prompt in made).most_common(1)[0][1] == 1


@pytest.mark.trials
def test_a_process_that_is_killed_is_replaced(tmp_path: Path) -> None:
    write_project(tmp_path)
    process = started(tmp_path, "--target", "agent", "--workers", "2", held_after=60)
    wait_for_calls(tmp_path, 61, processes=2)
    os.kill(int(calls(tmp_path)[-1][0]), signal.SIGKILL)
    wait_for_calls(tmp_path, 62, processes=3)
    (tmp_path / "hold").unlink()
    run = told(process)
    made = calls(tmp_path)

    check_run(Path(run["artifacts"]))
    assert run["metrics"]["pass_count"] == COUNT
    assert len(Counter(pid for pid, _ in made)) == 3
    assert len(made) <= COUNT + 2 * 16


@pytest.mark.trials
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_all_processes_and_the_run_goes_on_later(tmp_path: Path, number: int) -> None:
    write_project(tmp_path)
    process = started(tmp_path, "--target", "agent", "--workers", "2", held_after=60)
    wait_for_calls(tmp_path, 61)
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    (tmp_path / "hold").unlink()
    before = len(calls(tmp_path))
    time.sleep(0.3)

    assert (process.returncode, "steelyard resume run_" in said) == (130, True)
    assert len(calls(tmp_path)) == before
    again = [sys.executable, "-m", "steelyard", "resume", "latest", "--format", "json"]
    done = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True, check=True)
    run = json.loads(done.stdout)
    check_run(Path(run["artifacts"]))
    assert run["metrics"]["pass_count"] == COUNT


@pytest.mark.trials
def test_a_process_that_cannot_go_on_says_why(tmp_path: Path) -> None:
    write_project(tmp_path)
    process = started(tmp_path, "--target", "agent", "--workers", "2", held_after=20)
    wait_for_calls(tmp_path, 21)
    for path in (tmp_path / ".steelyard").glob("steelyard.db*"):
        if not path.name.endswith("-shm"):  # which is memory that the process looks into
            path.write_bytes(b"\0" * 4096)
    (tmp_path / "hold").unlink()
    _, said = process.communicate(timeout=120)

    assert process.returncode == 3
    assert "steelyard: " in said
    assert "Traceback" not in said


@pytest.mark.trials
def test_what_a_target_prints_is_no_result(tmp_path: Path) -> None:
    write_project(tmp_path)
    loud = AGENT.replace("    while is_held", "    print('p' * 99)\n    while is_held")
    (tmp_path / "agent.py").write_text(loud, encoding="utf-8")
    run = told(started(tmp_path, "--target", "agent", "--workers", "2"))

    check_run(Path(run["artifacts"]))
    assert run["metrics"]["pass_count"] == COUNT


@pytest.mark.trials
def test_processes_end_with_the_one_that_holds_the_run_and_it_goes_on_later(
    tmp_path: Path,
) -> None:
    write_project(tmp_path)
    process = started(tmp_path, "--target", "agent", "--workers", "2", held_after=60)
    wait_for_calls(tmp_path, 61)
    process.kill()
    process.communicate(timeout=120)
    (tmp_path / "hold").unlink()
    left = {pid for pid, _ in calls(tmp_path)}
    deadline = time.monotonic() + 120
    while any(is_there(pid) for pid in left) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert not any(is_there(pid) for pid in left)
    assert len(calls(tmp_path)) < COUNT
    again = [sys.executable, "-m", "steelyard", "resume", "latest", "--format", "json"]
    done = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True, check=True)
    run = json.loads(done.stdout)
    check_run(Path(run["artifacts"]))
    assert run["metrics"]["pass_count"] == COUNT
    assert len(calls(tmp_path)) <= COUNT + 2 * 16


@pytest.mark.trials
def test_a_run_in_several_processes_can_be_cancelled(tmp_path: Path) -> None:
    write_project(tmp_path)
    process = started(tmp_path, "--target", "agent", "--workers", "2", held_after=30)
    wait_for_calls(tmp_path, 31)
    words = [sys.executable, "-m", "steelyard", "cancel", "latest"]
    subprocess.run(words, cwd=tmp_path, capture_output=True, check=True)
    output, said = process.communicate(timeout=120)
    run = json.loads(output)
    check_run(Path(run["artifacts"]))

    assert (process.returncode, run["status"]) == (130, "cancelled"), said
    assert run["metrics"]["cancelled_records"] > 0
    assert run["metrics"]["total_records"] == COUNT


@pytest.mark.trials
def test_two_processes_may_ask_the_same_question(tmp_path: Path) -> None:
    async def main() -> dict[str, Any]:
        async with serving(says(COMPLETION)) as url:
            live = f'{{provider: openai, base_url: "{url}", model: m}}'
            write_project(tmp_path, f"targets: {{live: {live}}}\n")
            path = tmp_path / "d.jsonl"
            text = path.read_text(encoding="utf-8")
            path.write_text(re.sub(r"question \d+", "question", text), encoding="utf-8")
            words = ("--target", "live", "--workers", "2")
            return await asyncio.to_thread(told, started(tmp_path, *words))

    run = asyncio.run(main())

    assert run["status"] == "completed"
    assert COUNT - 2 * 16 <= run["metrics"]["cache"]["hits"] <= COUNT - 1


@pytest.mark.trials
def test_one_question_is_paid_for_once_and_a_later_run_may_have_it_for_nothing(
    tmp_path: Path,
) -> None:
    async def main() -> list[dict[str, Any]]:
        asked: list[bytes] = []
        answer = says(COMPLETION)

        async def counting(request: Any) -> Any:
            asked.append(await request.read())
            return await answer(request)

        async with serving(counting) as url:
            price = "{input: 1, output: 1}"
            live = f'{{provider: openai, base_url: "{url}", model: m, price: {price}}}'
            write_project(tmp_path, f"targets: {{live: {live}}}\n")
            path = tmp_path / "d.jsonl"
            same = path.read_text(encoding="utf-8").replace("question 1", "question 2")
            path.write_text(same, encoding="utf-8")
            words = ("--target", "live", "--limit", "20")
            runs = [
                await asyncio.to_thread(told, started(tmp_path, *words, *more))
                for more in ((), ("--cache",), ())
            ]
        return [{**run["metrics"]["cache"], "asked": len(asked)} for run in runs]

    first, second, third = asyncio.run(main())

    assert (first["hits"], second["hits"], third["hits"]) == (1, 20, 1)
    assert first["saved_usd"] == pytest.approx(15 / 1_000_000)
    assert third["asked"] == 2 * 19
