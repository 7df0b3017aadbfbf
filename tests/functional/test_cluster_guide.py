"""The commands of the guide "From laptop to cluster", as far as they need one machine."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from servers.guide_commands import commands

LONG_LIVED = ("serve", "worker")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the names of the guide."""
    (tmp_path / "steelyard.yaml").write_text("targets: {live: {provider: echo}}\n", "utf-8")
    cases = (
        {
            "id": f"c{number}",
            "expected_outcome": "Says it again.",
            "input": f"book {number}",
            "evaluators": [{"type": "contains", "value": str(number)}],
        }
        for number in range(20)
    )
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    (tmp_path / "cases.jsonl").write_text(lines, "utf-8")
    return tmp_path


@contextmanager
def started(project: Path, words: list[str], port: int) -> Generator[None]:
    """A process of the service, until the end of the test."""
    command = [sys.executable, "-m", "steelyard", *words]
    with (project / f"{words[0]}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=project, stdout=log, stderr=log)
    try:
        while words[0] == "serve" and not is_listening(port):
            assert process.poll() is None
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(60)


def is_listening(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.trials
def test_the_commands_of_the_guide_work_in_their_order(project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    here = [one.replace("8765", str(port)) for one in commands() if "--engine ray" not in one]
    typed = [shlex.split(one)[1:] for one in here]
    alone = [words for words in typed if "--server" not in words and words[0] not in LONG_LIVED]
    service = [words for words in typed if words[0] in LONG_LIVED]
    done = [run(project, words) for words in alone]
    with started(project, service[0], port), started(project, service[1], port):
        done += [run(project, words) for words in typed if "--server" in words]

    assert [words[0] for words in service] == ["serve", "worker"]
    assert len(done) == 5
    assert [one.returncode for one in done] == [0] * 5, [one.stderr for one in done]
    assert "pass rate" in done[1].stdout
    assert (done[1].stdout.splitlines()[1:4]) == (done[2].stdout.splitlines()[1:4])


def run(project: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "steelyard", *words]
    return subprocess.run(
        command, cwd=project, env=dict(os.environ), capture_output=True, text=True, check=False
    )
