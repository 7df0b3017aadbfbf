"""`steelyard cancel` as a user gives it, beside a run that is at work."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from checker import check_run, wait_until_stored
from fakes.desk_project import write_desk
from fakes.many_commands import run_many

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
JSON = ("--format", "json")
AGENTS = """

def stuck(prompt):
    answer(prompt)
    time.sleep(600)


def counted(prompt):
    said = [{"role": "assistant", "content": answer(prompt)}]
    return {"messages": said, "usage": {"input_tokens": 10, "output_tokens": 10}}
"""
"""One that waits without giving way, so that its thread cannot be broken off; one that counts."""
TARGETS = """\
  stuck: {provider: python, callable: "desk_agent:stuck"}
  counted: {provider: python, callable: "desk_agent:counted", price: {input: 1000, output: 1000}}
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A help desk with two agents more."""
    write_desk(tmp_path)
    with (tmp_path / "desk_agent.py").open("a", encoding="utf-8") as stream:
        stream.write(AGENTS)
    settings = tmp_path / "steelyard.yaml"
    text = settings.read_text(encoding="utf-8").replace("  dear:", f"{TARGETS}  dear:")
    settings.write_text(text, encoding="utf-8")
    return tmp_path


def begin(folder: Path, target: str) -> subprocess.Popen[str]:
    """A run whose calls are all under way."""
    words = ("run", "datasets/desk.jsonl", "--target", target, *JSON)
    process = subprocess.Popen(
        [sys.executable, "-m", "steelyard", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    calls, deadline = folder / "calls.txt", time.monotonic() + 120
    while not calls.exists() or len(calls.read_text(encoding="utf-8").splitlines()) < 4:
        assert time.monotonic() < deadline, "the run made no calls"
        time.sleep(0.02)
    return process


@pytest.mark.parametrize(
    ("target", "evaluated"), [("slow", 1), pytest.param("stuck", 0, marks=pytest.mark.trials)]
)
def test_a_run_whose_calls_hang_is_cancelled_at_once(
    steelyard: Steelyard, desk: Path, target: str, evaluated: int
) -> None:
    process = begin(desk, target)
    wait_until_stored(desk, evaluated)
    cancelled = steelyard("cancel", "latest", *JSON, cwd=desk)
    output, said = process.communicate(timeout=60)  # a call would hang for ten minutes
    run: dict[str, Any] = json.loads(output)
    verified, shown, resumed, again = run_many(
        desk,
        [("verify", "latest"), ("runs", *JSON), ("resume", "latest"), ("cancel", "latest")],
    )

    assert (cancelled.returncode, cancelled.stderr) == (0, "")
    assert json.loads(cancelled.stdout) == {"run_id": run["run_id"], "status": "cancelled"}
    assert (process.returncode, run["status"]) == (130, "cancelled")
    assert "Traceback" not in said
    assert run["metrics"]["evaluated_records"] == evaluated
    assert run["metrics"]["cancelled_records"] == 4 - evaluated
    assert verified.code == 0
    assert json.loads(shown.stdout)["data"][0]["status"] == "cancelled"
    assert (resumed.code, again.code) == (130, 0)
    assert again.stderr == f"{run['run_id']} is finished already: cancelled\n"
    check_run(Path(run["artifacts"]))


def test_a_run_whose_process_was_killed_is_cancelled_by_whoever_asks(
    steelyard: Steelyard, desk: Path
) -> None:
    process = begin(desk, "slow")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    before = (desk / "calls.txt").read_bytes()
    done = steelyard("cancel", "latest", cwd=desk)
    run_id, status = done.stdout.split()

    assert (done.returncode, status) == (0, "cancelled")
    assert (desk / "calls.txt").read_bytes() == before
    check_run(desk / ".steelyard" / "runs" / run_id)


def test_a_run_whose_dataset_is_gone_is_cancelled_and_says_what_is_missing(
    steelyard: Steelyard, desk: Path
) -> None:
    process = begin(desk, "slow")
    wait_until_stored(desk, 1)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    (desk / "datasets" / "desk.jsonl").unlink()
    done = steelyard("cancel", "latest", cwd=desk)
    run_id, status = done.stdout.split()
    shown, resumed = run_many(desk, [("show", run_id), ("resume", run_id)])

    assert (done.returncode, status, resumed.code) == (0, "cancelled", 130)
    assert done.stderr == (
        "steelyard: warning: no such file: datasets/desk.jsonl; "
        f"{run_id} is sealed with what it has kept\n"
    )
    counted = "4 = 1 evaluated + 0 failed + 3 skipped (3 cancelled, 3 that could not be read)"
    assert counted in shown.stdout
    assert "if all 3 records without a score had failed or passed" in shown.stdout
    assert "  unread     no such file: datasets/desk.jsonl\n" in shown.stdout
    check_run(desk / ".steelyard" / "runs" / run_id)


def test_a_finished_run_and_one_that_is_not_there_cannot_be_cancelled(desk: Path) -> None:
    run, done, missing = run_many(
        desk,
        [
            ("run", "datasets/desk.jsonl", "--target", "agent", *JSON),
            ("cancel", "latest"),
            ("cancel", "run_NO"),
        ],
    )
    run_id = json.loads(run.stdout)["run_id"]

    assert (done.code, done.stdout) == (0, f"{run_id}  completed\n")
    assert done.stderr == f"{run_id} is finished already: completed\n"
    assert (missing.code, missing.stdout) == (2, "")
    assert "no run 'run_NO' in this project" in missing.stderr


def test_a_budget_that_is_used_up_ends_a_run_with_exit_code_4(desk: Path) -> None:
    words = ("run", "datasets/desk.jsonl", "--target", "counted", "--max-concurrency", "1")
    spent, shown, free = run_many(
        desk, [(*words, "--budget", "0.05", *JSON), ("show", "latest"), (*words, *JSON)]
    )
    run: dict[str, Any] = json.loads(spent.stdout)
    failures = Path(run["artifacts"], "failures.jsonl").read_text(encoding="utf-8").splitlines()

    assert (spent.code, run["status"]) == (4, "completed_with_failures")
    assert "the budget of $0.05 (budget_usd of this run alone) was used up" in spent.stderr
    assert run["metrics"]["cost_usd"] == {"total": 0.04, "n": 2, "judging": None}
    assert run["metrics"]["cancelled_records"] == 2
    assert [json.loads(row)["label"] for row in failures] == ["budget", "budget"]
    assert "\n  no score   2 budget: the budget of $0.05" in shown.stdout
    assert shown.stdout.count("  cancelled: budget  the budget of $0.05") == 2
    assert (free.code, json.loads(free.stdout)["status"]) == (0, "completed")
    check_run(Path(run["artifacts"]))
