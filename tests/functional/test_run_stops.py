"""A run that is stopped says how to go on, and goes on without asking again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from checker import Trial, check_run, wait_until_stored
from fakes.desk_project import AGENT, write_desk

pytestmark = pytest.mark.trials

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

RUN = ("run", "datasets/desk.jsonl", "--target", "slow", "--format", "json")


def calls(folder: Path) -> Counter[str]:
    path = folder / "calls.txt"
    return Counter(path.read_text(encoding="utf-8").splitlines() if path.exists() else [])


IN_BACKGROUND = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
"""What a script's shell does with a command that ends in `&`."""


def stopped(
    folder: Path, number: int, run: tuple[str, ...] = RUN, before: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    """A run that was sent a signal once all of its calls were under way."""
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "steelyard", *run],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    deadline = time.monotonic() + 120
    while calls(folder).total() < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    wait_until_stored(folder, 1)
    process.send_signal(number)
    return process


def results_in(database: Path | str) -> int:
    """How many results a database holds whose log was not copied with it."""
    with closing(sqlite3.connect(database)) as connection:
        return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])


def assert_it_can_be_resumed(steelyard: Steelyard, root: Path, run_id: str) -> None:
    """A stopped run keeps its state, is said to be stopped, and shows what it has."""
    shown, listed = steelyard("show", run_id, cwd=root), steelyard("runs", cwd=root)
    rows = json.loads(steelyard("runs", "--format", "json", cwd=root).stdout)["data"]
    told = json.loads(steelyard("show", run_id, "--format", "json", cwd=root).stdout)

    assert shown.stdout.startswith(
        "not finished: stopped, can be resumed; 1 of 4 record(s) so far"
    )
    assert f"steelyard resume {run_id}" in shown.stdout
    assert "1 of 1 evaluated" in shown.stdout
    assert "stopped, can be resumed" in listed.stdout
    assert (rows[0]["status"], rows[0]["resumable"]) == ("running", True)
    assert told["manifest"]["status"] == "running"
    assert (told["resumable"], told["is_finished"]) == (True, False)
    assert_its_records_can_be_shown(steelyard, root, run_id)


def assert_its_records_can_be_shown(steelyard: Steelyard, root: Path, run_id: str) -> None:
    """One with a result, by its id or its place; one whose call was cut off; none that is not."""
    by_id, by_place = (steelyard("show", run_id, name, cwd=root) for name in ("hours", "0"))
    row = json.loads(steelyard("show", run_id, "hours", "--format", "json", cwd=root).stdout)
    cut_off = steelyard("show", run_id, "loans", cwd=root)
    missing = steelyard("show", run_id, "nobody", cwd=root)

    assert by_id.stdout == by_place.stdout
    assert by_id.stdout.startswith("hours  pass  score 1.000")
    assert "user: When do you open?" in by_id.stdout
    assert (row["records"][0]["record_id"], len(row["attempts"])) == ("hours", 1)
    assert cut_off.stdout.startswith("loans  no result yet\n  attempt 1 at ")
    assert "interrupted: the process stopped" in cut_off.stdout
    assert (missing.returncode, missing.stdout) == (2, "")
    assert f"no record 'nobody' in what {run_id} has kept so far" in missing.stderr


def assert_every_call_is_logged(folder: Path, cut_off: int) -> None:
    """Seven calls are seven rows; those that were cut off use no attempt and are counted apart."""
    lines = (folder / "attempt_logs.jsonl").read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    interrupted = [row for row in rows if row["error_code"] == "interrupted"]
    metrics = json.loads((folder / "metrics_summary.json").read_bytes())
    manifest = json.loads((folder / "run_manifest.json").read_bytes())

    assert (len(rows), len(interrupted)) == (7, cut_off)
    assert {row["attempt"] for row in rows} == {1}
    assert "may have been sent" in interrupted[0]["message"]
    assert (metrics["attempts"], metrics["interrupted_calls"]) == (4, cut_off)
    assert len(manifest["interruptions"]) == 1
    assert manifest["interruptions"][0]["resumed_at"] > manifest["started_at"]


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.trials)]
)
def test_a_stopped_run_ends_soon_with_130_and_is_resumed(
    steelyard: Steelyard, tmp_path: Path, number: int
) -> None:
    write_desk(tmp_path)
    process = stopped(tmp_path, number)
    output, said = process.communicate(timeout=120)

    assert (process.returncode, output) == (130, "")
    assert "stopped; resume it with: steelyard resume run_" in said
    assert "Traceback" not in said
    assert results_in(shutil.copy(tmp_path / ".steelyard" / "steelyard.db", tmp_path)) == 1

    (tmp_path / "desk_agent.py").write_text(AGENT.replace("600)", "0)"), encoding="utf-8")
    run_id = said.split()[-1]
    assert_it_can_be_resumed(steelyard, tmp_path, run_id)
    done = steelyard("resume", run_id, "--format", "json", cwd=tmp_path)
    run: dict[str, Any] = json.loads(done.stdout)

    assert (done.returncode, run["run_id"], run["status"]) == (0, run_id, "completed")
    assert run["metrics"]["pass_count"] == 3
    assert calls(tmp_path)["When do you open?"] == 1
    assert calls(tmp_path).total() == 7
    assert_every_call_is_logged(Path(run["artifacts"]), cut_off=3)
    whole = steelyard(*RUN, cwd=tmp_path)
    folder = Path(json.loads(whole.stdout)["artifacts"])
    check_run(Path(run["artifacts"]), Trial(uninterrupted=folder))


def cut_off_in(root: Path) -> tuple[int, int]:
    """How many calls are logged as cut off, and how many holders still claim any."""
    logged = "SELECT count(*) FROM attempts WHERE call LIKE '%interrupted%'"
    claimed = "SELECT count(*) FROM claims WHERE row != CAST('{}' AS BLOB)"
    with closing(sqlite3.connect(root / ".steelyard" / "steelyard.db")) as connection:
        return tuple(connection.execute(query).fetchone()[0] for query in (logged, claimed))


@pytest.mark.parametrize(
    ("workers", "before"),
    [
        pytest.param("1", IN_BACKGROUND, marks=pytest.mark.trials),
        ("2", IN_BACKGROUND),
        pytest.param("2", (), marks=pytest.mark.trials),
    ],
)
def test_a_run_is_stopped_in_processes_and_in_the_background_of_a_script_too(
    tmp_path: Path, workers: str, before: tuple[str, ...]
) -> None:
    write_desk(tmp_path)
    run = (*RUN, "--workers", workers)
    process = stopped(tmp_path, signal.SIGTERM, run, before)
    output, said = process.communicate(timeout=120)

    assert cut_off_in(tmp_path) == (3, 0)
    assert (process.returncode, output) == (130, "")
    assert "stopped; resume it with: steelyard resume run_" in said
    assert "Traceback" not in said


def is_gone(process: str) -> bool:
    """Whether a process ends within a moment; one that nobody has buried yet has ended."""
    stat, deadline = Path("/proc", process, "stat"), time.monotonic() + 120
    while time.monotonic() < deadline:
        if not stat.exists() or ") Z " in stat.read_text(encoding="utf-8"):
            return True
        time.sleep(0.02)
    return False


RUBRIC = """\
id: slow
version: "1.0"
scoring: {combine: weighted_avg, pass_threshold: 0.5}
checks:
  - {id: one, kind: command, script: [sh, -c, "echo $$ >> begun; exec sleep 600"]}
  - {id: two, kind: command, script: [sh, -c, "echo $$ >> begun; exec sleep 600"]}
"""


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.trials)]
)
def test_a_stop_does_not_wait_for_the_programs_of_checks_and_ends_them(
    tmp_path: Path, number: int
) -> None:
    write_desk(tmp_path)
    (tmp_path / "desk_agent.py").write_text(AGENT.replace("600)", "0)"), encoding="utf-8")
    (tmp_path / "rubrics").mkdir(exist_ok=True)
    (tmp_path / "rubrics" / "slow.yaml").write_text(RUBRIC, encoding="utf-8")
    with (tmp_path / "steelyard.yaml").open("a", encoding="utf-8") as settings:
        settings.write("allow: {commands: true}\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "steelyard", *RUN, "--rubric", "rubrics/slow.yaml"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    begun, deadline = tmp_path / "begun", time.monotonic() + 120
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(number)
    output, said = process.communicate(timeout=120)

    assert (process.returncode, output) == (130, "")
    assert "stopped; resume it with: steelyard resume run_" in said
    assert cut_off_in(tmp_path) == (calls(tmp_path).total(), 0)
    for program in begun.read_text(encoding="utf-8").split():
        assert is_gone(program)


def test_a_finished_run_says_so_and_exits_with_its_own_code(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    write_desk(tmp_path)
    run = steelyard("run", "datasets/desk.jsonl", "--target", "moody", cwd=tmp_path)
    again = steelyard("resume", "latest", cwd=tmp_path)

    assert (run.returncode, again.returncode) == (4, 4)
    assert "is finished already: completed_with_failures" in again.stderr
    assert again.stdout == run.stdout


def test_the_gates_of_a_run_hold_when_it_is_resumed(steelyard: Steelyard, tmp_path: Path) -> None:
    """Unless `resume` names its own."""
    write_desk(tmp_path)
    gate = ("--fail-under", "0.9", "--allow-failures", "1")
    run = steelyard("run", "datasets/desk.jsonl", "--target", "moody", *gate, cwd=tmp_path)
    again = steelyard("resume", "latest", cwd=tmp_path)
    other = steelyard("resume", "latest", "--fail-under", "0.1", cwd=tmp_path)

    assert (run.returncode, again.returncode, other.returncode) == (1, 1, 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [(("latest",), "no run 'latest' in this project"), (("run_NO",), "no run 'run_NO'")],
)
def test_a_run_that_is_not_there_cannot_be_resumed(
    steelyard: Steelyard, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = steelyard("resume", *words, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_process_that_is_killed_leaves_a_run_to_resume(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    write_desk(tmp_path)
    process = stopped(tmp_path, signal.SIGKILL)
    process.communicate(timeout=120)
    (tmp_path / "desk_agent.py").write_text(AGENT.replace("600)", "0)"), encoding="utf-8")
    done = steelyard("resume", "latest", "--format", "json", cwd=tmp_path)

    assert process.returncode == -signal.SIGKILL
    assert done.returncode == 0
    run = json.loads(done.stdout)
    assert run["metrics"]["evaluated_records"] == 4
    assert calls(tmp_path)["When do you open?"] == 1
    assert calls(tmp_path).total() == 7
    assert_every_call_is_logged(Path(run["artifacts"]), cut_off=3)
    check_run(Path(run["artifacts"]))


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_a_terminal_sees_a_bar_on_stderr(tmp_path: Path) -> None:
    write_desk(tmp_path)
    ours, theirs = os.openpty()
    process = subprocess.run(
        [sys.executable, "-m", "steelyard", "run", "datasets/desk.jsonl", "--target", "agent"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=False,
        timeout=120,
    )
    os.close(theirs)
    seen = os.read(ours, 65536).decode("utf-8", "replace")
    os.close(ours)

    assert process.returncode == 0
    assert process.stdout.startswith("desk × agent".encode())
    assert "4/4" in seen
    assert "3 passed" in seen
