"""One child process, measured from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
STEELYARD = (sys.executable, "-m", "steelyard")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took: seconds on the clock, seconds of CPU, bytes of memory at its peak."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def run(*command: str | Path, cwd: Path = ROOT) -> Cost:
    """Run a command to its end; one that fails stops the measurement."""
    words = [str(word) for word in command]
    begin = time.perf_counter()
    env = {**os.environ, "PYTHONPATH": str(ROOT)}  # where `bench` is, whatever the folder
    process = subprocess.Popen(words, cwd=cwd, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit code {process.returncode}: {' '.join(words)}")
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def medians(
    commands: dict[str, tuple[str | Path, ...]], times: int, cwd: Path = ROOT
) -> dict[str, Cost]:
    """The median cost of each command, run in turns so that a busy moment hits all alike."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            costs[name].append(run(*command, cwd=cwd))
    return {
        name: Cost(
            median(cost.wall_s for cost in taken),
            median(cost.cpu_s for cost in taken),
            round(median(cost.peak_bytes for cost in taken)),
        )
        for name, taken in costs.items()
    }
