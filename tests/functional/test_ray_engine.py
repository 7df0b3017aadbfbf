"""Runs on a Ray cluster of three nodes, in a network and process namespace of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from checker import Trial, check_run
from real_parts import lack, require
from servers import ray_cluster
from servers.ray_projects import (
    GRADED,
    JUDGED,
    NEAR,
    PASSED,
    REPEATS,
    SHOWN,
    sealed_equally,
    write_project,
)

NAMESPACE = (
    *("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"),
    "--map-root-user",
)
AT_ONCE = 16
ROWS = GRADED * REPEATS

pytestmark = pytest.mark.trials


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after all trials on one cluster; to start one takes long."""
    require("ray")
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode:
        lack("needs namespaces of its own: unshare --net --pid --map-root-user is not permitted")
    made = tmp_path_factory.mktemp("ray") / "project"
    made.mkdir()
    write_project(made)
    words = [*NAMESPACE, sys.executable, ray_cluster.__file__, str(made)]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=400, check=False)
    assert (made / "found.json").is_file(), done.stderr
    return made


@pytest.fixture(scope="module")
def found(root: Path) -> dict[str, dict[str, Any]]:
    """What each trial has found."""
    return json.loads((root / "found.json").read_text(encoding="utf-8"))


def test_a_judged_run_on_three_nodes_asks_each_question_once_and_prints_its_result_alone(
    found: dict[str, dict[str, Any]],
) -> None:
    run = found["undisturbed"]

    check_run(Path(run["artifacts"]), Trial(calls=ROWS, judge_calls=2 * ROWS))
    assert run["metrics"]["pass_count"] == GRADED - len(range(0, GRADED, 7))
    assert (run["calls"], run["judge_calls"]) == (ROWS, 2 * ROWS)


def test_the_artifacts_of_a_judged_run_are_those_of_a_local_run(
    root: Path, found: dict[str, dict[str, Any]]
) -> None:
    folders = [local_run(root, count) for count in (1, 2)]

    assert sealed_equally([*folders, Path(found["undisturbed"]["artifacts"])]) == {}


def local_run(root: Path, workers: int, words: Sequence[str] = ray_cluster.IS_GRADED) -> Path:
    """The same run without Ray."""
    command = (sys.executable, "-m", "steelyard", "run", *words)
    done = subprocess.run(
        [*command, "--format", "json", "--workers", str(workers)],
        cwd=root,
        env=ray_cluster.variables(root),
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(json.loads(done.stdout)["artifacts"])


def test_a_target_is_asked_where_the_resources_are_that_it_names(
    found: dict[str, dict[str, Any]],
) -> None:
    run = found["near_model"]
    rows = Path(run["artifacts"], "predictions.jsonl").read_text(encoding="utf-8").splitlines()

    assert [json.loads(row)["model_response"] for row in rows] == ["near"] * NEAR
    assert "room for 1 of 2 workers now, each with CPU=1, near_model=1;" in run["said"]


def test_files_that_cases_show_reach_the_nodes_wherever_they_lie(
    root: Path, found: dict[str, dict[str, Any]]
) -> None:
    shown = ("shown.jsonl", "--target", "agent")

    assert sealed_equally([local_run(root, 1, shown), Path(found["shown"]["artifacts"])]) == {}
    assert found["shown"]["metrics"]["pass_count"] == SHOWN


def test_a_node_without_the_plugins_of_the_command_asks_nothing(
    found: dict[str, dict[str, Any]],
) -> None:
    run = found["plugins_differ"]

    assert (run["code"], run["calls"]) == (3, 0)
    assert "could not go on: plug-ins differ: the node " in run["said"]
    assert " has no exams 1.0; install the same packages on every node" in run["said"]
    assert " has no exams 1.0; install" in run["warnings"][-1]


def test_what_a_worker_fails_with_is_said_by_the_command_and_kept_with_the_run(
    found: dict[str, dict[str, Any]],
) -> None:
    run = found["target_raises"]
    said = "RuntimeError: there is no model on this machine"

    assert run["code"] == 3
    assert said in run["said"]
    assert run["warnings"][-1].startswith("stopped: a process of run_")
    assert said in run["warnings"][-1]


def test_a_node_that_dies_while_judges_are_asked_loses_no_reply(
    found: dict[str, dict[str, Any]],
) -> None:
    run = found["node_killed"]

    trial = Trial(
        calls=run["calls"], judge_calls=run["judge_calls"], kills=1, concurrency=3 * AT_ONCE
    )
    check_run(Path(run["artifacts"]), trial)
    assert run["metrics"]["pass_count"] == JUDGED - len(range(0, JUDGED, 7))
    assert run["metrics"]["interrupted_calls"] > 0
    assert run["workers"] == 4
    said = "a worker was lost, and another takes its records over: "
    assert said in run["said"]
    assert any(said in warning for warning in run["warnings"])


def test_a_run_whose_driver_dies_is_resumed_on_the_cluster(
    found: dict[str, dict[str, Any]],
) -> None:
    run = found["driver_killed"]

    trial = Trial(calls=run["calls"], kills=1, concurrency=AT_ONCE)
    check_run(Path(run["artifacts"]), trial)
    assert run["left"] == []
    assert run["metrics"]["pass_count"] == PASSED
    assert run["metrics"]["interrupted_calls"] > 0


def test_a_posted_dataset_is_run_on_the_cluster_though_the_worker_of_the_service_is_killed(
    root: Path, found: dict[str, dict[str, Any]]
) -> None:
    run = found["service"]

    check_run(Path(run["artifacts"]), Trial(calls=run["calls"], kills=1, concurrency=AT_ONCE))
    assert run["status"] == "completed"
    assert run["workers"] > 3
    assert list((root / ".steelyard" / "spool").iterdir()) == []
    assert "restarted in 0.5 s" in run["said"]


def test_a_run_whose_head_dies_stops_and_is_resumed_without_ray(
    found: dict[str, dict[str, Any]],
) -> None:
    run = found["head_killed"]

    check_run(Path(run["artifacts"]))
    assert run["metrics"]["pass_count"] == PASSED
    assert run["first"]["code"] == 3
    assert "the head of the Ray cluster at " in run["first"]["said"]
    assert "the run goes on with: steelyard resume" in run["first"]["said"]
    said = "stopped: the head of the Ray cluster at "
    assert any(warning.startswith(said) for warning in run["warnings"])


def test_the_commands_of_the_guide_work_on_a_cluster(found: dict[str, dict[str, Any]]) -> None:
    codes: dict[str, int] = found["guide"]["codes"]

    assert len(codes) == 2
    # The second resumes a run that is finished, and both tell of its gates.
    assert set(codes.values()) == {0}
