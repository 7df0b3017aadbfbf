"""Faults that a run survives: dying at every point, sleeping too long, full disks, torn files."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from checker import Trial, check_run, stored_predictions
from fakes import doomed
from fakes.desk_project import write_desk
from fakes.doomed import AT_ONCE, CALLS, POINTS, CountingTarget
from fakes.many_commands import run_many
from fakes.metrics import measured
from fakes.projects import Project, row
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget
from real_parts import lack
from steelyard.errors import RunError

pytestmark = pytest.mark.trials

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
TESTS = Path(__file__).parents[1]
ROWS = [row(f"r{number}") for number in range(30)]
HASTY = """\
import sys
from steelyard.store.runs import leases
from steelyard.store.runs import repository as runs
leases.LEASE_S = runs.LEASE_S = 0.6
leases.HEARTBEAT_S, leases._LOOK_S = 0.2, 0.05
from steelyard.cli.main import main
main()
"""
"""The command with leases that are over soon."""
SLOW_AGENT = """\
import asyncio
from pathlib import Path

CALLS, HOLD = (Path(__file__).parent / name for name in ("calls", "hold"))

async def answer(prompt):
    with CALLS.open("ab", buffering=0) as stream:
        stream.write(b".")
    await asyncio.sleep(0.02)
    while is_held():
        await asyncio.sleep(0.02)
    return "yes"

def is_held():
    try:
        return CALLS.stat().st_size > int(HOLD.read_text() or 0)
    except FileNotFoundError:
        return False
"""
"""Calls beyond the number in `hold` wait until that file is gone."""


def newest(root: Path) -> Path:
    """The folder of the last run, which may not be there yet."""
    connection = sqlite3.connect(root / ".steelyard" / "steelyard.db")
    found = connection.execute("SELECT max(run_id) FROM runs").fetchone()
    connection.close()
    return root / ".steelyard" / "runs" / str(found[0])


def calls(root: Path) -> int:
    path = root / CALLS
    return path.stat().st_size if path.exists() else 0


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run over the same dataset that nobody stopped."""
    project = Project(tmp_path_factory.mktemp("uninterrupted"))
    run = project.run(project.ports(ScriptedTarget()), project.cases(ROWS))
    project.close()
    return Path(run.folder)


@pytest.fixture(scope="module")
def graves(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, int]]:
    """For each point a project whose run was killed there, and how its process ended."""
    root = tmp_path_factory.mktemp("graves")
    for number in range(len(POINTS)):
        (root / str(number)).mkdir()
        Project(root / str(number)).cases(ROWS)
    done = subprocess.run(
        [sys.executable, str(Path(doomed.__file__)), str(root)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        check=True,
        timeout=120,
    )
    codes = map(int, done.stdout.split())
    return {
        point: (root / str(number), code)
        for number, (point, code) in enumerate(zip(POINTS, codes, strict=True))
    }


@pytest.mark.parametrize("point", POINTS)
def test_a_run_survives_its_death_at_every_point(
    graves: dict[str, tuple[Path, int]], uninterrupted: Path, point: str
) -> None:
    root, code = graves[point]
    folder = newest(root)
    kept = stored_predictions(folder)
    project = Project(root)
    run = project.resume(project.ports(CountingTarget(root)))
    project.close()
    trial = Trial(
        acknowledged=kept,
        calls=calls(root),
        kills=1,
        concurrency=AT_ONCE,
        uninterrupted=uninterrupted,
    )

    assert code == -signal.SIGKILL
    assert run.status == "completed"
    check_run(folder, trial)


def slow_project(root: Path) -> Path:
    """A project whose agent takes a moment for every answer, or as long as it is held."""
    project = Project(root, "targets: {slow: {provider: python, callable: 'agent:answer'}}")
    project.write("agent.py", SLOW_AGENT)
    project.cases(row(f"r{number}") for number in range(60))
    return root


def begin(root: Path, *words: str, is_hasty: bool = False) -> subprocess.Popen[str]:
    """Start the command; with leases that are over soon when it is hasty."""
    program = ["-c", HASTY] if is_hasty else ["-m", "steelyard"]
    return subprocess.Popen(
        [sys.executable, *program, *words, "--format", "json"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


RUN = ("run", "d.jsonl", "--target", "slow", "--max-concurrency", "2")


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


def is_put_to_sleep(process: subprocess.Popen[str], root: Path) -> bool:
    """Whether it was stopped while it did not hold the store, which nobody else could use."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    with closing(sqlite3.connect(root / ".steelyard" / "steelyard.db", timeout=0)) as store:
        try:
            store.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            process.send_signal(signal.SIGCONT)
            return False
    return True


def lease_left(root: Path) -> float:
    connection = sqlite3.connect(root / ".steelyard" / "steelyard.db")
    query = "SELECT lease_until - (julianday('now') - 2440587.5) * 86400.0 FROM runs"
    found = connection.execute(query).fetchone()
    connection.close()
    return found[0]


@pytest.mark.parametrize(
    ("is_woken_late", "options"),
    [(True, ()), (False, ()), (True, ("--workers", "2"))],
    ids=["late", "early", "workers"],
)
def test_one_who_slept_past_his_lease_is_refused_and_says_so(
    tmp_path: Path, is_woken_late: bool, options: tuple[str, ...]
) -> None:
    root = slow_project(tmp_path)
    (root / "hold").write_text("10", encoding="utf-8")
    sleeper = begin(root, *RUN, *options, is_hasty=True)
    wait_for(lambda: calls(root) > 10, "some calls")
    wait_for(lambda: is_put_to_sleep(sleeper, root), "a moment between transactions")
    wait_for(lambda: lease_left(root) < 0, "the end of the lease")
    (root / "hold").unlink()
    folder, before = newest(root), calls(root)
    kept = stored_predictions(folder)
    other = begin(root, "resume", folder.name)
    if is_woken_late:
        other.wait(timeout=120)
    else:
        wait_for(lambda: calls(root) >= before + 6, "calls of the other")
    sleeper.send_signal(signal.SIGCONT)
    left, told = sleeper.communicate(timeout=120)
    output, said = other.communicate(timeout=120)

    assert other.returncode == 0, said
    assert json.loads(output)["status"] == "completed"
    assert (sleeper.returncode, left) == (3, "")
    assert f"{folder.name} was taken over by another process" in told
    assert "Traceback" not in told
    assert "this is a bug" not in told
    check_run(folder, Trial(acknowledged=kept, calls=calls(root), kills=1, concurrency=2))


def test_of_two_that_resume_a_run_at_once_one_works(tmp_path: Path) -> None:
    root = slow_project(tmp_path)
    (root / "hold").write_text("6", encoding="utf-8")
    first = begin(root, *RUN)
    wait_for(lambda: calls(root) > 6, "some calls")
    first.kill()
    first.communicate()
    folder = newest(root)
    kept = stored_predictions(folder)
    both = [begin(root, "resume", folder.name) for _ in range(2)]
    wait_for(lambda: any(process.poll() is not None for process in both), "a refusal")
    (root / "hold").unlink()
    said = [process.communicate(timeout=120)[1] for process in both]
    refused = next(text for text, one in zip(said, both, strict=True) if one.returncode == 2)

    assert sorted(process.returncode for process in both) == [0, 2], said
    assert "another process" in refused
    check_run(folder, Trial(acknowledged=kept, calls=calls(root), kills=1, concurrency=2))


def test_a_run_that_somebody_works_on_is_not_resumed(steelyard: Steelyard, tmp_path: Path) -> None:
    root = slow_project(tmp_path)
    (root / "hold").touch()
    first = begin(root, *RUN)
    wait_for(lambda: calls(root) == 2, "the first calls")
    refused = steelyard("resume", "latest", cwd=root)
    (root / "hold").unlink()
    _, told = first.communicate(timeout=120)

    assert first.returncode == 0, told
    assert refused.returncode == 2
    assert "is being worked on by another process" in refused.stderr
    check_run(newest(root), Trial(calls=60))


@pytest.mark.soak
def test_a_run_is_cancelled_at_any_moment(steelyard: Steelyard, tmp_path: Path) -> None:
    ends: set[str] = set()
    for seed in range(40):
        chance = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        root = slow_project(folder)
        process = begin(root, *RUN)
        wait_for((root / ".steelyard" / "steelyard.db").exists, "the store")
        time.sleep(chance.uniform(0, 1.2))
        if chance.random() < 0.3:
            process.kill()
        done = steelyard("cancel", "latest", "--format", "json", cwd=root)
        _, said = process.communicate(timeout=120)
        if "no run 'latest'" in done.stderr:
            continue

        assert done.returncode == 0, (seed, done.stderr)
        status = json.loads(done.stdout)["status"]
        ends.add(status)
        assert process.returncode in {0 if status == "completed" else 130, -signal.SIGKILL}, said
        check_run(newest(root), Trial(calls=calls(root), kills=1, concurrency=2))
    assert "cancelled" in ends


@contextmanager
def small_disk(folder: Path, size: int) -> Generator[Path]:
    """A file system of so many bytes."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        lack("needs the right to mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def long_rows(count: int = 100) -> list[dict[str, Any]]:
    return [row(f"r{n}", input="When? " * 800) for n in range(count)]


@pytest.mark.parametrize(
    "free_kb",
    [400, *(pytest.param(kb, marks=pytest.mark.trials) for kb in (40, 150, 700, 1000, 1300))],
)
def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_space(
    tmp_path: Path, free_kb: int
) -> None:
    with small_disk(tmp_path / "disk", 16 * 1024 * 1024) as root:
        project = Project(root)
        dataset = project.cases(long_rows())
        ballast = root / "ballast"
        left = shutil.disk_usage(root).free - free_kb * 1024
        ballast.write_bytes(bytes(left))
        target = ScriptedTarget(otherwise="yes " * 1000)
        with pytest.raises(RunError, match=r"disk is full|disk I/O error|No space left on device"):
            project.run(project.ports(target), dataset, max_concurrency=4)
        project.close()
        ballast.unlink()

        ports = project.ports(target)
        if ports.repository.list(1):
            kept = stored_predictions(newest(root))
            run = project.resume(ports)
        else:
            kept = {}
            run = project.run(ports, dataset)
        project.close()

        assert run.status == "completed"
        check_run(Path(run.folder), Trial(acknowledged=kept))


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_335_000, 1_335_000))


def test_a_file_that_may_not_grow_ends_the_command_with_its_reason(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    project = Project(tmp_path)
    project.cases(long_rows(150))
    words = ("run", "d.jsonl", "--target", "echo", "--format", "json")
    full = subprocess.run(
        [sys.executable, "-m", "steelyard", *words],
        cwd=tmp_path,
        # What measures coverage cannot write its files either, and says so at length.
        env={name: value for name, value in os.environ.items() if "COVERAGE" not in name},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
        preexec_fn=limit_files,
    )
    kept = stored_predictions(newest(tmp_path))
    done = steelyard(
        "resume", "latest", "--format", "json", "--allow-failures", "100%", cwd=tmp_path
    )

    assert (full.returncode, full.stdout) == (3, "")
    assert full.stderr.splitlines()[-1].startswith("steelyard: the store ")
    assert "Traceback" not in full.stderr
    assert done.returncode == 0, done.stderr
    check_run(newest(tmp_path), Trial(acknowledged=kept))


def test_a_torn_tail_of_a_dataset_is_found_before_anything_is_asked(tmp_path: Path) -> None:
    write_desk(tmp_path)
    path = tmp_path / "datasets" / "desk.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    words = ("datasets/desk.jsonl", "--format", "json")
    checked, run = run_many(tmp_path, [("validate", *words), ("run", *words, "--target", "agent")])
    findings = json.loads(checked.stdout)["files"][0]["findings"]
    torn = [found for found in findings if found["severity"] == "error"]
    said = "Line 4: Invalid JSON - the text ends too early"

    assert (checked.code, [found["line"] for found in torn]) == (1, [4])
    assert torn[0]["message"].startswith(said)
    assert (run.code, run.stdout) == (2, "")
    assert f"datasets/desk.jsonl: {said}" in run.stderr
    assert not (tmp_path / "calls.txt").exists()


def test_a_torn_tail_of_legal_rows_is_one_rejected_record(tmp_path: Path) -> None:
    project = Project(tmp_path)
    case = {
        "schema_version": "legal_eval_v1",
        "dataset": "d",
        "task_type": "mcq",
        "prompt": "Which?",
        "choices": [{"id": "A", "text": "this"}, {"id": "B", "text": "that"}],
        "correct_choice_ids": ["A"],
    }
    dataset = project.cases({**case, "id": f"m{number}"} for number in range(5))
    path = tmp_path / dataset
    path.write_bytes(path.read_bytes()[:-30])
    run = project.run(project.ports(ScriptedTarget(otherwise="A")), dataset)
    project.close()

    check_run(Path(run.folder))
    assert measured(run).pass_count == 4
    assert measured(run).invalid_records == 1


@pytest.mark.parametrize("torn", [b"\0" * 4000, b"\x37\x7f\x06\x82" * 1500])
def test_a_torn_tail_of_the_store_loses_nothing_that_was_acknowledged(
    tmp_path: Path, torn: bytes
) -> None:
    """The half of a commit that a power cut has left behind."""
    project = Project(tmp_path)
    dataset = project.cases(ROWS)
    with pytest.raises(Stopped):
        project.run(project.ports(StoppingTarget(after=20)), dataset, max_concurrency=2)
    copy = Project(tmp_path / "copy")
    copy.cases(ROWS)
    (copy.root / ".steelyard").mkdir()
    for path in (tmp_path / ".steelyard").glob("steelyard.db*"):
        shutil.copy(path, copy.root / ".steelyard")
    with (copy.root / ".steelyard" / "steelyard.db-wal").open("ab") as stream:
        stream.write(torn)
    kept = stored_predictions(newest(tmp_path))
    project.close()
    run = copy.resume(copy.ports(ScriptedTarget()))
    copy.close()

    assert kept
    check_run(Path(run.folder), Trial(acknowledged=kept))


def test_a_torn_tail_of_a_response_file_refuses_the_run(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    write_desk(tmp_path)
    responses = tmp_path / "responses" / "both.jsonl"
    lines = responses.read_bytes().count(b"\n")
    responses.write_bytes(responses.read_bytes()[:-20])
    done = steelyard(
        "run", "datasets/desk.jsonl", "--responses", "responses/both.jsonl", cwd=tmp_path
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert f"both.jsonl:{lines}: invalid JSON" in done.stderr
