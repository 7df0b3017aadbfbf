"""A command is measured with all its children, and ended at its limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench.child import ROOT
from bench.peers.process import fresh, measured
from bench.peers.tool import CannotRunError, Command

BUSY = "import time\nwhile time.process_time() < 0.3: pass\n"
CHILD = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY!r}], check=True)\n"
FAMILY = """
import subprocess, sys
held = bytearray(60_000_000)
child = "import time; held = bytearray(60_000_000); time.sleep(1)"
subprocess.run([sys.executable, "-c", child], check=True, start_new_session={own_session})
"""

MEASURING = """
import pathlib, signal, sys
from bench.peers.process import measured
from bench.peers.tool import Command
signal.signal(signal.SIGINT, signal.default_int_handler)
measured(Command((sys.executable, "-c", sys.argv[2])), pathlib.Path(sys.argv[1]), 60)
"""


def job(tmp_path: Path) -> Path:
    return fresh(tmp_path / "scale" / "job")


def python(code: str, **environment: str) -> Command:
    return Command((sys.executable, "-c", code), environment)


def test_a_fresh_folder_is_empty(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "old").touch()

    assert list(fresh(tmp_path / "job").iterdir()) == []


def test_the_cpu_of_a_child_is_part_of_the_cost(tmp_path: Path) -> None:
    cost, _ = measured(python(CHILD), job(tmp_path), 60)

    assert cost.cpu_s >= 0.3
    assert cost.wall_s >= 0.3


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("own_session", [False, True])
def test_the_memory_of_all_processes_is_added_up(tmp_path: Path, own_session: bool) -> None:
    cost, _ = measured(python(FAMILY.format(own_session=own_session)), job(tmp_path), 60)

    assert cost.peak_bytes >= 120_000_000


def test_the_output_comes_without_the_errors(tmp_path: Path) -> None:
    _, output = measured(
        python("import sys; print(7); print(8, file=sys.stderr)"), job(tmp_path), 60
    )

    assert output == "7\n"


def test_a_command_sees_its_settings_and_neither_a_proxy_nor_the_home_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy")
    folder = job(tmp_path)
    code = "import os; print(os.environ['ASKED'], os.environ['HOME'], 'HTTPS_PROXY' in os.environ)"

    _, output = measured(python(code, ASKED="yes"), folder, 60)

    assert output.split() == ["yes", str(folder.parent / "home"), "False"]
    assert str(folder.parent / "home") != os.environ.get("HOME")


def test_a_command_that_fails_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match="ended with exit code 3"):
        measured(python("raise SystemExit(3)"), job(tmp_path), 60)


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match="did not end within 0 s"):
        measured(python("import time; time.sleep(600)"), job(tmp_path), 0.1)


def test_an_interrupted_measurement_leaves_no_process_behind(tmp_path: Path) -> None:
    folder = job(tmp_path)
    code = (
        "import os, time; print(os.getpid(), file=open('pid', 'w'), flush=True); time.sleep(600)"
    )
    measuring = subprocess.Popen(
        [sys.executable, "-c", MEASURING, str(folder), code], stderr=subprocess.PIPE, cwd=ROOT
    )
    while not (folder / "pid").exists() or not (folder / "pid").read_text(encoding="utf-8"):
        time.sleep(0.01)

    measuring.send_signal(signal.SIGINT)
    _, said = measuring.communicate(timeout=120)

    assert b"KeyboardInterrupt" in said
    group, deadline = int((folder / "pid").read_text(encoding="utf-8")), time.monotonic() + 120
    while is_there(group) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_there(group)


def is_there(group: int) -> bool:
    """Whether a process group has a process; one that has ended stays until it is reaped."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
