"""A program of a check or of a target leaves no process behind, however it hides one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Command = Callable[..., subprocess.CompletedProcess[str]]
CHECKER = """\
import os, sys, time
from pathlib import Path

kept, told = os.pipe()
if not os.fork():
    os.setsid()
    if not os.fork():
        os.write(told, b"%d" % os.getpid())
        time.sleep(600)
    os._exit(0)
Path("daemon.pid").write_bytes(os.read(kept, 20))
print('{"score": 1}', flush=True)
"""


def test_a_daemon_of_a_command_check_ends_with_it(tmp_path: Path, steelyard: Command) -> None:
    (tmp_path / "checker.py").write_text(CHECKER, encoding="utf-8")
    (tmp_path / "steelyard.yaml").write_text("allow: {commands: true}\n", encoding="utf-8")
    judge = {"name": "c", "type": "code_judge", "script": [sys.executable, "checker.py"]}
    case = {"id": "a", "expected_outcome": "x", "input": "?", "evaluators": [judge]}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    steelyard("run", "cases.jsonl", "--target", "echo", cwd=tmp_path)
    (row,) = (tmp_path / ".steelyard" / "runs").glob("*/predictions.jsonl")
    daemon = (tmp_path / "daemon.pid").read_text(encoding="utf-8")

    assert json.loads(row.read_text(encoding="utf-8"))["score"] == 1
    assert not Path("/proc", daemon).exists()


def test_a_daemon_of_a_command_target_ends_with_it(tmp_path: Path, steelyard: Command) -> None:
    done = asked(tmp_path, steelyard, CHECKER)
    daemon = (tmp_path / "daemon.pid").read_text(encoding="utf-8")

    assert done["status"] == "evaluated"
    assert not Path("/proc", daemon).exists()


def test_nor_does_one_live_on_by_killing_what_watches_it(
    tmp_path: Path, steelyard: Command
) -> None:
    done = asked(tmp_path, steelyard, CHECKER + "os.kill(os.getppid(), 9)\ntime.sleep(600)\n")
    daemon = (tmp_path / "daemon.pid").read_text(encoding="utf-8")

    assert done["status"] == "evaluation_error"
    assert not Path("/proc", daemon).exists()


def asked(folder: Path, steelyard: Command, program: str) -> dict[str, object]:
    """What became of a record whose target is a program."""
    (folder / "agent.py").write_text(program, encoding="utf-8")
    settings = (
        f'targets: {{agent: {{provider: command, command: ["{sys.executable}", agent.py]}}}}'
    )
    (folder / "steelyard.yaml").write_text(settings, encoding="utf-8")
    check = {"name": "c", "type": "contains", "value": "score"}
    case = {"id": "a", "expected_outcome": "x", "input": "?", "evaluators": [check]}
    (folder / "cases.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    steelyard("run", "cases.jsonl", "--target", "agent", cwd=folder)
    (row,) = (folder / ".steelyard" / "runs").glob("*/predictions.jsonl")
    return json.loads(row.read_text(encoding="utf-8"))
