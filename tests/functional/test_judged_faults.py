"""Faults that a run with judges survives: no answer and no reply is asked for twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from checker import Trial, check_run, stored_judgements, stored_predictions
from fakes import doomed_judges
from fakes.doomed import AT_ONCE, CALLS
from fakes.doomed_judges import (
    JUDGE_CALLS,
    JUDGED,
    JUDGED_POINTS,
    judged_ports,
)
from fakes.projects import Project, row

TESTS = Path(__file__).parents[1]
ROWS = [row(f"r{number}") for number in range(20)]


def newest(root: Path) -> Path:
    return max((root / ".steelyard" / "runs").iterdir())


def noted(root: Path, name: str) -> int:
    path = root / name
    return path.stat().st_size if path.exists() else 0


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run over the same dataset that nobody stopped."""
    root = tmp_path_factory.mktemp("uninterrupted")
    project = Project(root, JUDGED)
    run = project.run(judged_ports(project, root), project.cases(ROWS), rubric="judged")
    project.close()
    check_run(Path(run.folder), Trial(calls=20, judge_calls=40))
    return Path(run.folder)


@pytest.fixture(scope="module")
def graves(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, int]]:
    """For each point a project whose run was killed there, and how its process ended."""
    root = tmp_path_factory.mktemp("graves")
    for number in range(len(JUDGED_POINTS)):
        (root / str(number)).mkdir()
        Project(root / str(number), JUDGED).cases(ROWS)
    done = subprocess.run(
        [sys.executable, str(Path(doomed_judges.__file__)), str(root)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        check=True,
        timeout=120,
    )
    codes = map(int, done.stdout.split())
    return {
        point: (root / str(number), code)
        for number, (point, code) in enumerate(zip(JUDGED_POINTS, codes, strict=True))
    }


@pytest.mark.parametrize("point", JUDGED_POINTS)
@pytest.mark.trials
def test_a_run_survives_its_death_at_every_point_of_judging(
    graves: dict[str, tuple[Path, int]], uninterrupted: Path, point: str
) -> None:
    root, code = graves[point]
    project = Project(root, JUDGED)
    ports = judged_ports(project, root)
    folder = root / ".steelyard" / "runs" / ports.repository.find("latest").run_id
    kept, judged = stored_predictions(folder), stored_judgements(folder)
    run = project.resume(ports)
    project.close()
    trial = Trial(
        acknowledged=kept,
        judgements=judged,
        calls=noted(root, CALLS),
        judge_calls=noted(root, JUDGE_CALLS),
        kills=1,
        concurrency=AT_ONCE,
        uninterrupted=uninterrupted,
    )

    assert code == -signal.SIGKILL
    assert run.status == "completed"
    check_run(folder, trial)
