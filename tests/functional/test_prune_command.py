"""`prune` says what would go, removes it when told so, and survives being killed on the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fakes.desk_project import write_desk
from fakes.many_commands import Done, run_many
from steelyard.results.artifacts import ARTIFACTS
from steelyard.results.pruned import RAW, SUMMARIES
from steelyard.settings import RetentionSettings
from steelyard.store.artifacts import digest_of
from steelyard.store.database import open_database
from steelyard.store.pruned import RetentionStore
from steelyard.usecases.results.verify import verify
from steelyard.usecases.runs.prune import plan_pruning, prune

JSON = ("--format", "json")
KILLED_AT = """
import os, signal, sys
from pathlib import Path
from steelyard.cli.main import main
from steelyard.store.pruned import RetentionStore

left = int(sys.argv.pop())
points = []

def watched(owner, name):
    real = getattr(owner, name)
    def call(*given, **named):
        points.append(name)
        if len(points) > left:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **named)
    setattr(owner, name, call)

for name in ("note", "forget", "remove", "remove_folder", "settle"):
    watched(RetentionStore, name)
for name in ("chmod", "unlink", "rmdir"):
    watched(Path, name)
watched(os, "fsync")
try:
    main()
finally:
    print(len(points), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a run that was just made."""
    root = write_desk(tmp_path_factory.mktemp("prune"))
    (done,) = run_many(root, [("run", "datasets/desk.jsonl", "--target", "moody")])
    assert done.code == 4
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(made, tmp_path / "project")


def age(root: Path, at: str) -> Path:
    """Let the run have ended at another time; its folder."""
    connection = sqlite3.connect(root / ".steelyard" / "steelyard.db")
    connection.execute("UPDATE run_states SET at = ?", (at,))
    connection.commit()
    connection.close()
    return next((root / ".steelyard" / "runs").iterdir())


STORE = Path(".steelyard/steelyard.db")
LONG_AGO = "2001-01-01T00:00:00.000+00:00"


def test_what_is_young_stays(root: Path) -> None:
    plain, told = run_many(root, [("prune", "--yes"), ("prune", *JSON)])

    assert plain == Done(0, "nothing to prune (raw results 30 days, summaries 180 days)\n", "")
    assert json.loads(told.stdout)["runs"] == []


def test_left_over_inputs_are_reported(root: Path) -> None:
    left = root / ".steelyard" / "inputs" / "run_crashed"
    left.mkdir(parents=True)
    left.with_name("content").mkdir()
    os.utime(left, (0, 0))
    listed, done = run_many(root, [("prune",), ("prune", "--yes")])

    assert listed.stdout.startswith("nothing to prune")
    assert done.stdout.startswith("removed the left-over inputs of 1 queued run(s)\n")
    assert not left.exists()


def test_without_yes_nothing_goes(root: Path) -> None:
    folder = age(root, LONG_AGO)
    plain, told = run_many(root, [("prune",), ("prune", *JSON)])
    answer: dict[str, Any] = json.loads(told.stdout)
    size = sum(path.stat().st_size for path in folder.iterdir())

    assert plain.code == told.code == 0
    assert plain.stdout.startswith(f"{folder.name}  finished 2001-01-01  all that is left, 11 row")
    assert "  predictions.jsonl\n" in plain.stdout
    assert "nothing was removed; --yes does it" in plain.stdout
    assert answer["is_done"] is False
    assert (answer["files"], answer["size"], answer["rows"]) == (8, size, 11)
    assert [file["name"] for file in answer["runs"][0]["files"]] == [*RAW, *SUMMARIES]
    assert {path.name for path in folder.iterdir()} == set(ARTIFACTS)
    assert not (root / ".steelyard" / "pruned.jsonl").exists()


def test_every_command_says_what_was_pruned(root: Path) -> None:
    settings = root / "steelyard.yaml"
    kept = settings.read_text(encoding="utf-8") + "retention: {summary_days: 20000}\n"
    settings.write_text(kept, encoding="utf-8")
    folder = age(root, LONG_AGO)
    commands = {
        "prune": ("prune", "--yes"),
        "verify": ("verify", "latest"),
        "verify json": ("verify", "latest", *JSON),
        "show": ("show", "latest"),
        "show json": ("show", "latest", *JSON),
        "record": ("show", "latest", "hours"),
        "report": ("report", "latest"),
        "export": ("export", "latest"),
        "runs": ("runs",),
        "runs json": ("runs", *JSON),
        "resume": ("resume", "latest"),
        "retry": ("retry", "latest"),
        "regrade": ("regrade", "latest", "--rubric", "rubric/polite@1.0"),
    }
    said = dict(zip(commands, run_many(root, commands.values()), strict=True))
    codes = {name: done.code for name, done in said.items() if done.code}

    assert "removed 5 file(s), " in said["prune"].stdout
    assert codes == {"record": 2, "export": 2, "resume": 4, "retry": 2, "regrade": 2}
    assert "pruned    predictions.jsonl  on 20" in said["verify"].stdout
    assert json.loads(said["verify json"].stdout)["intact"] is True
    assert "the records were pruned on 20" in said["show"].stdout
    assert json.loads(said["show json"].stdout)["metrics"]["total_records"] == 4
    assert "the report has only the numbers" in said["report"].stderr
    assert "(pruned)" in said["runs"].stdout
    assert json.loads(said["runs json"].stdout)["data"][0]["pruned"] == list(RAW)
    for name in ("record", "export", "retry", "regrade"):
        assert f"predictions.jsonl of {folder.name} was pruned on 20" in said[name].stderr


def test_a_run_of_which_nothing_is_left_is_still_known(root: Path) -> None:
    age(root, LONG_AGO)
    commands = {
        "prune": ("prune", "--yes", *JSON),
        "again": ("prune", "--yes"),
        "verify": ("verify", "latest"),
        "runs": ("runs",),
        "show": ("show", "latest"),
        "report": ("report", "latest"),
        "resume": ("resume", "latest"),
    }
    said = dict(zip(commands, run_many(root, commands.values()), strict=True))

    assert {name: done.code for name, done in said.items() if done.code} == {
        "show": 2,
        "report": 2,
        "resume": 2,
    }
    assert json.loads(said["prune"].stdout)["is_done"] is True
    assert "nothing to prune" in said["again"].stdout
    assert said["verify"].stdout.count("pruned ") == len(ARTIFACTS)
    assert "(pruned)" in said["runs"].stdout
    assert "was pruned on 20" in said["show"].stderr
    assert "only its line in `steelyard runs` is left" in said["resume"].stderr


@pytest.mark.parametrize(
    ("settings", "words", "said"),
    [
        ("retention: {raw_days: 29}", (), "retention.raw_days must be at least 30"),
        ("retention: {summary_days: 179}", (), "retention.summary_days must be at least 180"),
        ("retention: {raw_day: 40}", (), "did you mean 'raw_days'?"),
        ("{}", ("--older-than", "29"), "29 is not in the range x>=30"),
    ],
)
def test_less_than_the_least_is_refused(
    root: Path, settings: str, words: tuple[str, ...], said: str
) -> None:
    (root / "steelyard.yaml").write_text(settings, encoding="utf-8")
    (done,) = run_many(root, [("prune", *words)])

    assert done.code == 2
    assert said in done.stderr


def test_older_than_is_for_raw_results_and_for_once(root: Path) -> None:
    age(root, LONG_AGO)
    (done, usual) = run_many(root, [("prune", "--older-than", "20000", *JSON), ("prune", *JSON)])

    assert json.loads(done.stdout)["raw_days"] == json.loads(done.stdout)["summary_days"] == 20000
    assert json.loads(done.stdout)["runs"] == []
    assert len(json.loads(usual.stdout)["runs"]) == 1


def killed(root: Path, point: int) -> subprocess.CompletedProcess[str]:
    """A `prune` that dies when it comes to its nth step."""
    return subprocess.run(
        [sys.executable, "-c", KILLED_AT, "prune", "--yes", str(point)],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


@pytest.mark.trials
def test_killed_at_any_point_it_leaves_what_verify_and_a_second_prune_understand(
    root: Path, tmp_path: Path
) -> None:
    folder = age(root, LONG_AGO)
    whole = killed(shutil.copytree(root, tmp_path / "whole"), 10_000)
    points = int(whole.stderr)
    assert (whole.returncode, points) == (0, 1 + 2 + 1 + 4 * len(ARTIFACTS) + 3 + 1)

    # Every fifth, so that the suite stays quick; the unit tests stop before every step.
    for point in range(0, points, 5):
        copy = shutil.copytree(root, tmp_path / str(point))
        there = copy / folder.relative_to(root)
        dead = killed(copy, point)
        halfway = verify(there, digest_of)
        with closing(RetentionStore(open_database(copy / STORE), copy / STORE.parent)) as shelf:
            prune(
                shelf, plan_pruning(shelf, RetentionSettings(), datetime(2026, 1, 15, tzinfo=UTC))
            )

        assert dead.returncode == -signal.SIGKILL
        assert halfway.is_intact, (point, halfway)
        assert not there.exists()
        assert {file.state for file in verify(there, digest_of).files} == {"pruned"}
