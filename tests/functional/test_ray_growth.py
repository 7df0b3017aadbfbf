"""A run on a Ray cluster that has no room for its workers until it grows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from checker import Trial, check_run
from functional.test_ray_engine import NAMESPACE
from real_parts import lack, require
from servers import growing_cluster
from servers.growing_cluster import NODES
from servers.ray_projects import COUNT, PASSED, write_project

pytestmark = pytest.mark.trials


def test_a_cluster_grows_by_the_workers_of_a_run(tmp_path: Path) -> None:
    require("ray")
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode:
        lack("needs namespaces of its own: unshare --net --pid --map-root-user is not permitted")
    write_project(tmp_path)
    words = [*NAMESPACE, sys.executable, growing_cluster.__file__, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert (tmp_path / "found.json").is_file(), done.stderr
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))

    assert f"room for 0 of {NODES} workers now" in found["said"]
    assert found["code"] == 0, found["said"]
    run = json.loads(found["output"])
    check_run(Path(run["artifacts"]), Trial(calls=COUNT))
    assert run["metrics"]["pass_count"] == PASSED
    calls = (tmp_path / "trial-calls").read_text(encoding="utf-8").splitlines()
    assert len({line.partition(" ")[0] for line in calls}) == NODES
