"""The loop a user would write: what all others are compared with."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version

from bench.child import ROOT
from bench.peers.steelyard import write_cases
from bench.peers.tool import SAMPLES, Command, Job, Tool


def _command(job: Job) -> Command:
    write_cases(job)
    words = (sys.executable, "-m", "bench.bare_loop", SAMPLES, job.url, str(job.at_once))
    return Command(words, {"PYTHONPATH": str(ROOT)})


def _passed(_: Job, output: str) -> int:
    found = re.search(r"(\d+) of \d+ passed", output)
    return int(found[1]) if found else 0


TOOL = Tool(
    name="bare aiohttp loop",
    how=(
        "`bench/bare_loop.py`, some 20 lines: one session, a semaphore, `in` as the check, one "
        "JSON line a sample at the end; it retries nothing and survives nothing"
    ),
    install=lambda: f"aiohttp {version('aiohttp')}",
    command=_command,
    passed=_passed,
)
