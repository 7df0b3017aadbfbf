"""What a program has left is found by a mark that it inherited."""

from __future__ import annotations

import os
import subprocess
import sys

from steelyard.targets.processes.bounded_process import MARK, end_marked

SLEEPER = (sys.executable, "-I", "-S", "-c", "import time; print(flush=True); time.sleep(600)")


def test_those_with_the_mark_are_ended_and_no_others() -> None:
    marked, other = (
        subprocess.Popen(SLEEPER, env={**os.environ, MARK: mark}, stdout=subprocess.PIPE)
        for mark in ("a", "ab")
    )
    with marked, other:
        for process in (marked, other):
            assert process.stdout
            process.stdout.readline()
        end_marked("a")

        assert marked.wait(10) == -9
        assert other.poll() is None
        other.kill()
