"""Standard streams that are closed or full, a store that is damaged or gone."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from fakes.projects import row

pytestmark = pytest.mark.trials

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
SLOW = """\
import time

def answer(prompt):
    time.sleep(0.02)
    return "yes"
"""


def write(folder: Path, count: int = 5, agent: str | None = None) -> None:
    rows = (json.dumps(row(f"r{number}", input="yes")) + "\n" for number in range(count))
    (folder / "d.jsonl").write_text("".join(rows), encoding="utf-8")
    if agent:
        (folder / "slow_agent.py").write_text(agent, encoding="utf-8")
        text = 'targets: {agent: {provider: python, callable: "slow_agent:answer"}}\n'
        (folder / "steelyard.yaml").write_text(text, encoding="utf-8")


def shell(folder: Path, streams: str, words: str = "run d.jsonl --target echo") -> tuple[int, str]:
    """The exit code of a command with such streams, and what is left of both."""
    command = f"{sys.executable} -m steelyard {words} {streams}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "streams",
    [
        *(
            pytest.param(one, marks=pytest.mark.trials)
            for one in ("2>&-", "2>/dev/full", ">&- 2>&-")
        ),
        ">&-",
        "<&- >&- 2>&-",
    ],
)
def test_streams_that_lead_nowhere_change_nothing(tmp_path: Path, streams: str) -> None:
    write(tmp_path)
    code, said = shell(tmp_path, streams)

    assert (code, "bug" in said) == (0, False), said


@pytest.mark.parametrize("words", ["run d.jsonl --target echo", "runs", "--version"])
def test_an_output_that_cannot_be_written_is_said_so(tmp_path: Path, words: str) -> None:
    write(tmp_path)
    code, said = shell(tmp_path, ">/dev/full", words)

    assert (code, "bug" in said) == (2, False)
    assert "standard output: No space left on device" in said


def test_an_error_is_told_by_its_code_where_nothing_can_be_written(tmp_path: Path) -> None:
    assert shell(tmp_path, ">/dev/full 2>/dev/full", "run no.jsonl --target echo")[0] == 2


@pytest.mark.parametrize("place", [0, 100, 8192, 8192 * 3])
def test_a_damaged_store_is_named_with_what_helps(
    steelyard: Steelyard, tmp_path: Path, place: int
) -> None:
    write(tmp_path, 50)
    steelyard("run", "d.jsonl", "--target", "echo", cwd=tmp_path)
    path = tmp_path / ".steelyard" / "steelyard.db"
    sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    data = bytearray(path.read_bytes())
    data[place : place + 4000] = b"\xff" * len(data[place : place + 4000])
    path.write_bytes(data)
    done = steelyard("runs", cwd=tmp_path)

    assert "bug" not in done.stderr
    if done.returncode:
        assert (done.returncode, str(path) in done.stderr) == (3, True)
        assert "SQLITE_" in done.stderr
        assert "backup" in done.stderr


def test_a_store_that_is_deleted_during_a_run_ends_it(tmp_path: Path) -> None:
    write(tmp_path, 200, SLOW)
    words = [sys.executable, "-m", "steelyard", "run", "d.jsonl", "--target", "agent"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        folder = tmp_path / ".steelyard"
        while process.poll() is None and not (folder / "steelyard.db-wal").exists():
            time.sleep(0.02)
        time.sleep(0.3)
        shutil.rmtree(folder, ignore_errors=True)
        _, said = process.communicate(timeout=60)

    assert (process.returncode, "this is a bug" in said) == (3, False), said
    assert "steelyard.db" in said


def test_workers_end_with_a_holder_that_is_killed(tmp_path: Path) -> None:
    agent = "import os, time\n\ndef answer(prompt):\n    open(f'{os.getpid()}.pid', 'w').close()\n"
    write(tmp_path, 200, f"{agent}    time.sleep(0.05)\n    return 'yes'\n")
    words = [sys.executable, "-m", "steelyard", "run", "d.jsonl", "--target", "agent"]
    with subprocess.Popen([*words, "--workers", "2"], cwd=tmp_path) as process:
        while process.poll() is None and len(list(tmp_path.glob("*.pid"))) < 2:
            time.sleep(0.02)
        process.kill()
    workers = [int(path.stem) for path in tmp_path.glob("*.pid")]
    until = time.monotonic() + 10
    while any(map(is_alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)

    assert not any(map(is_alive, workers))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return (
        Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    )
