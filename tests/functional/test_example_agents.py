"""The example agent behind its three entry points: the same traces, the same numbers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
EXAMPLE = Path(__file__).parents[2] / "examples" / "agents"
DOORS = ("in_python", "as_command", "over_http")
RUNS = {
    "datasets/orders.yaml": "rubric/desk@1.0",
    "datasets/conversations.yaml": "rubric/conversation@1.0",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, in a folder of its own."""
    return shutil.copytree(
        EXAMPLE,
        tmp_path_factory.mktemp("agents") / "project",
        ignore=shutil.ignore_patterns(".steelyard", "__pycache__"),
    )


@pytest.fixture(scope="module")
def port(project: Path) -> Generator[str]:
    """Where the agent's service listens."""
    service = subprocess.Popen(
        [sys.executable, "over_http.py", "0"], cwd=project, stderr=subprocess.PIPE, text=True
    )
    assert service.stderr
    yield service.stderr.readline().split()[-1]
    service.kill()
    service.communicate()


@pytest.fixture(scope="module")
def runs(steelyard: Steelyard, project: Path, port: str) -> dict[tuple[str, str], dict[str, Any]]:
    """What `steelyard run` says, by dataset and entry point."""
    # `python3` of the project file is the one of this test.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    made: dict[tuple[str, str], dict[str, Any]] = {}
    for dataset, rubric in RUNS.items():
        for ports in DOORS:
            done = steelyard(
                *("run", dataset, "--target", ports, "--rubric", rubric, "--format", "json"),
                cwd=project,
                env={"AGENT_PORT": port, "PATH": path},
            )
            assert done.returncode == 0, done.stderr
            made[dataset, ports] = json.loads(done.stdout)
    return made


def rows(run: dict[str, Any]) -> list[dict[str, Any]]:
    text = Path(run["artifacts"], "predictions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def calls(row: dict[str, Any]) -> list[tuple[str, Any]]:
    messages = row["trace"]["messages"]
    made = [call for message in messages for call in message.get("tool_calls") or ()]
    return [(call["tool"], call["output"]) for call in made]


@pytest.mark.parametrize("ports", DOORS)
@pytest.mark.parametrize("dataset", RUNS)
def test_the_agent_passes_behind_every_entry_point(
    runs: dict[tuple[str, str], dict[str, Any]], dataset: str, ports: str
) -> None:
    run = runs[dataset, ports]

    assert run["status"] == "completed"
    assert run["metrics"]["pass_rate"]["value"] == 1.0
    assert all(row["latency_ms"] > 0 for row in rows(run))


@pytest.mark.parametrize("dataset", RUNS)
def test_every_entry_point_hands_over_the_same_trace(
    runs: dict[tuple[str, str], dict[str, Any]], dataset: str
) -> None:
    traces = [[row["trace"]["messages"] for row in rows(runs[dataset, ports])] for ports in DOORS]

    assert traces[0] == traces[1] == traces[2]


def test_the_traces_hold_every_call_with_its_result(
    runs: dict[tuple[str, str], dict[str, Any]],
) -> None:
    found = {row["record_id"]: calls(row) for row in rows(runs["datasets/orders.yaml", DOORS[2]])}

    assert found["where-is-it"] == [
        ("find_order", {"item": "desk lamp", "status": "shipped", "parcel": "P-902"}),
        ("track_parcel", {"place": "Leeds", "due": "Thursday"}),
    ]
    assert found["which-order"] == []


def test_an_agent_that_skips_a_tool_is_found_out(steelyard: Steelyard, project: Path) -> None:
    spoilt = shutil.copytree(project, project.parent / "spoilt")
    agent = spoilt / "desk_agent.py"
    told = agent.read_text(encoding="utf-8").replace(
        'return "open_return", {"order": order}, ""', 'return None, {}, "Done: R-B-04."'
    )
    agent.write_text(told, encoding="utf-8")
    done = steelyard("run", "--suite", "orders", "--format", "json", cwd=spoilt)

    assert done.returncode == 1
    failed = [row["record_id"] for row in rows(json.loads(done.stdout)) if not row["passed"]]
    assert failed == ["return-in-time"]
