"""The loop a user would write: what all others are compared with."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version

from bench.child import ROOT
from bench.peers.steelyard import CHECK, JUDGE, write_cases
from bench.peers.tool import SAMPLES, Command, Job, Tool


def _command(job: Job) -> Command:
    write_cases(job, CHECK)
    return Command(_words(job), {"PYTHONPATH": str(ROOT)})


def _judged_command(job: Job) -> Command:
    write_cases(job, JUDGE)
    return Command((*_words(job), f"{job.url}/criterion"), {"PYTHONPATH": str(ROOT)})


def _words(job: Job) -> tuple[str, ...]:
    return (sys.executable, "-m", "bench.bare_loop", SAMPLES, job.url, str(job.at_once))


def _version() -> str:
    return f"aiohttp {version('aiohttp')}"


def _passed(_: Job, output: str) -> int:
    found = re.search(r"(\d+) of \d+ passed", output)
    return int(found[1]) if found else 0


TOOL = Tool(
    name="bare aiohttp loop",
    how=(
        "`bench/bare_loop.py`, some 20 lines: one session, a semaphore, `in` as the check, one "
        "JSON line a sample at the end; it retries nothing and survives nothing"
    ),
    install=_version,
    command=_command,
    passed=_passed,
)
JUDGED = Tool(
    name="bare aiohttp loop",
    how=(
        "`bench/bare_loop.py` with the address of a judge: the same session asks, then asks the "
        "judge with a prompt of four lines and reads `pass` from its JSON; it retries nothing and "
        "survives nothing"
    ),
    install=_version,
    command=_judged_command,
    passed=_passed,
    answers=("weeks", "criterion"),
)
