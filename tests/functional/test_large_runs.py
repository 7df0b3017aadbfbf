"""Memory does not grow with the dataset: what a run needs at most, for little and for much."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checker import check_run
from fakes.projects import Project, row
from real_parts import lack

MB = 1024 * 1024
SENTENCE = "Is it open? "


def written(root: Path, count: int, *, kilobytes: int) -> Path:
    """A project with so many records of so many kilobytes each."""
    text = SENTENCE * (83 * kilobytes)
    project = Project(root)
    nothing = [{"type": "contains", "value": "Is it open"}]
    rows = (row(f"r{n}", input=f"{n} {text}", evaluators=nothing) for n in range(count))
    return project.root / project.cases(rows)


def peak_of_run(dataset: Path) -> tuple[int, Path]:
    """The most memory that a run took, in bytes, and where its artifacts are."""
    if not Path("/proc/self/status").exists():
        lack("needs /proc, which tells how much memory a process takes")
    process = subprocess.Popen(
        [sys.executable, "-m", "steelyard", "run", dataset.name, "--target", "echo"],
        cwd=dataset.parent,
        env={name: value for name, value in os.environ.items() if "COVERAGE" not in name},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    peak = 0
    while process.poll() is None:
        # What `wait4` tells would begin with the memory of this process.
        peak = max(peak, _peak_so_far(process.pid))
        time.sleep(0.02)

    assert process.returncode == 0
    (folder,) = (dataset.parent / ".steelyard" / "runs").iterdir()
    return peak, folder


def _peak_so_far(number: int) -> int:
    text = Path(f"/proc/{number}/status").read_text(encoding="utf-8")
    return next(
        (int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("VmHWM")), 0
    )


@pytest.mark.trials
def test_a_run_of_three_times_the_records_needs_no_more_memory(tmp_path: Path) -> None:
    """Both are too large for their records to be kept from the plan to the run."""
    peaks: list[int] = []
    for count in (9_000, 27_000):
        root = tmp_path / str(count)
        root.mkdir()
        peak, folder = peak_of_run(written(root, count, kilobytes=4))
        metrics = json.loads((folder / "metrics_summary.json").read_bytes())
        peaks.append(peak)

        assert metrics["pass_count"] == count
    # About 200 bytes of a record are kept for the numbers; the allocator adds up to 1,000.
    assert (peaks[1] - peaks[0]) / 18_000 < 2_000


@pytest.mark.soak
def test_fifty_thousand_records_of_a_hundred_megabytes(tmp_path: Path) -> None:
    dataset = written(tmp_path, 50_000, kilobytes=2)
    peak, folder = peak_of_run(dataset)

    assert dataset.stat().st_size > 100 * MB
    assert peak < 192 * MB
    check_run(folder)
