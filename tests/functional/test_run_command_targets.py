"""A run whose target is a program: what is refused before it, and what is left after it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
CASES = {
    "dataset_id": "hours",
    "dataset_version": "1",
    "schema_version": "1.0",
    "records": [
        {"record_id": f"q{number}", "input": {"prompt": "When?"}, "reference": {"answer": "nine"}}
        for number in range(3)
    ],
}
RUBRIC = """
id: says_it
version: 1.0.0
checks: [{id: says_it, kind: must_contain_any}]
scoring: {combine: all_pass}
"""
SLOW = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open("pids.txt", "a") as stream:
    stream.write(f"{os.getpid()}\\n{child.pid}\\n")
time.sleep(600)
"""
RUN = ("run", "hours.json", "--target", "agent", "--rubric", "rubric/says_it@1.0")


def write_project(folder: Path, settings: str, agent: str = "print('At nine.')") -> None:
    (folder / "rubrics").mkdir()
    (folder / "rubrics" / "says_it.yaml").write_text(RUBRIC, encoding="utf-8")
    (folder / "hours.json").write_text(json.dumps(CASES), encoding="utf-8")
    (folder / "agent.py").write_text(agent, encoding="utf-8")
    command = f"provider: command, command: [{sys.executable}, agent.py]"
    text = settings.replace("AGENT", command)
    (folder / "steelyard.yaml").write_text(text, encoding="utf-8")


def has_ended(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    except FileNotFoundError:
        return True
    return state.split()[0] in {"Z", "X"}


def test_a_program_answers(steelyard: Steelyard, tmp_path: Path) -> None:
    write_project(tmp_path, "targets: {agent: {AGENT}}")
    done = steelyard(*RUN, "--format", "json", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["pass_rate"]["value"] == 1.0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            "targets: {agent: {provider: command, command: [no-such-agent]}}",
            "targets.agent: there is no program 'no-such-agent' on the PATH",
        ),
        (
            "targets: {agent: {provider: http, url: 'http://127.0.0.1:1/', body: '{{ promt }}'}}",
            "targets.agent.body: unknown variable {{ promt }} (did you mean 'prompt'?)",
        ),
        ("targets: {agent: {provider: command, command: []}}", "targets.agent.command"),
        ("targets: {agent: {provider: http, method: PUT}}", "targets.agent.method"),
    ],
)
def test_what_cannot_work_is_told_before_the_first_call(
    steelyard: Steelyard, tmp_path: Path, settings: str, said: str
) -> None:
    write_project(tmp_path, settings)
    done = steelyard(*RUN, cwd=tmp_path)

    assert done.returncode == 2
    assert said in done.stderr


def test_no_value_that_came_from_outside_reaches_the_disk(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    secret = "hush-canary-4711"
    agent = "import os, sys; print('nine', os.environ['TOKEN']); sys.exit(os.environ['TOKEN'])"
    write_project(tmp_path, "targets: {agent: {AGENT, env: {TOKEN: '${MY_TOKEN}'}}}", agent)
    done = steelyard(*RUN, cwd=tmp_path, env={"MY_TOKEN": secret})
    found = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]

    assert done.returncode == 4
    assert found == []
    assert secret not in done.stdout + done.stderr


def test_a_run_that_is_stopped_takes_its_programs_with_it(tmp_path: Path) -> None:
    write_project(tmp_path, "targets: {agent: {AGENT}}", SLOW)
    process = subprocess.Popen(
        [sys.executable, "-m", "steelyard", *RUN],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    pids = tmp_path / "pids.txt"
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if pids.exists() and len(pids.read_text(encoding="utf-8").split()) == 6:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)

    assert process.returncode == 130, said
    assert "Traceback" not in said
    started = pids.read_text(encoding="utf-8").split()
    assert len(started) == 6
    while not all(has_ended(int(pid)) for pid in started) and time.monotonic() < until:
        time.sleep(0.02)
    assert all(has_ended(int(pid)) for pid in started)
