"""dev.py installs without chatter, and a test session ends by saying what it left out."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from suite_report import last_lines

ROOT = Path(__file__).parents[2]
QUIETLY = """
import sys
sys.path.insert(0, {root!r})
import dev
dev.setup = lambda _: dev.run_quietly(sys.executable, "-c", {code!r}) or 0
sys.exit(dev.main(["setup"]))
"""
CHATTER = "import sys; print('a notice'); print('WARNING: as root', file=sys.stderr); sys.exit({})"
TESTS = """
import pytest

def test_one(): pass

def test_two(): pytest.skip("needs a part: install it")

@pytest.mark.trials
def test_three(): pass

@pytest.mark.soak
def test_four(): pass
"""
IN_MEMORY = """
from pathlib import Path
import memory_folder

memory_folder.SHARED_MEMORY = Path({folder!r})
memory_folder.NEEDED = memory_folder.FREE_BESIDE = {needed}
pytest_plugins = ["memory_folder"]
"""
WRITES = """
def test_one(tmp_path):
    (tmp_path / "seen").write_text("x")
    with open({told!r}, "a") as told:
        print(tmp_path, file=told)
    assert {passes}
"""
MARKERS = "[pytest]\nmarkers =\n  trials: t\n  soak: s\n"


@pytest.mark.parametrize(
    ("code", "said"), [(0, []), (3, ["WARNING: as root", "a notice"])], ids=["works", "fails"]
)
def test_what_an_installer_prints_is_shown_only_when_it_fails(code: int, said: list[str]) -> None:
    script = QUIETLY.format(root=str(ROOT), code=CHATTER.format(code))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (code, "")
    assert sorted(done.stderr.splitlines()) == said


def ended(folder: Path, *words: str) -> list[str]:
    """The last lines of a session with a test of each kind."""
    (folder / "test_kinds.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text(MARKERS, encoding="utf-8")
    command = [sys.executable, "-P", "-m", "pytest", "-p", "suite_report", "-q", *words]
    done = subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT / "tests"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("words", [(), ("-p", "xdist", "-n", "2")], ids=["here", "workers"])
def test_the_last_lines_say_what_was_skipped_and_not_run(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert ended(tmp_path, "-m", "not trials and not soak", *words)[-3:] == [
        "skipped: 1",
        "  1: needs a part: install it",
        "not run here: 1 trials (python3 dev.py trials), 1 soak tests (python3 dev.py soak)",
    ]


def test_a_session_that_leaves_nothing_out_says_so() -> None:
    assert last_lines(Counter(), Counter()) == ["skipped: none"]


def test_soak_says_how_many_tests_it_does_not_run() -> None:
    lines = last_lines(Counter({"no php": 2, "no disk": 1}), Counter({"tests": 9, "trials": 2}))

    assert lines == [
        "skipped: 3",
        "  2: no php",
        "  1: no disk",
        "not run here: 9 tests (python3 dev.py test), 2 trials (python3 dev.py trials)",
    ]


UNSTEADY = """
import pathlib

def test_passes(): pass

def test_unsteady():
    mark = pathlib.Path("seen")
    seen = mark.exists()
    mark.touch()
    assert seen

def test_broken(): assert BROKEN != 1

def test_more(): assert BROKEN != 9
"""
WHOLE = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
import dev
dev.ROOT, dev.PYTHON, dev.PARALLEL, dev.MOST_REPEATED = Path({folder!r}), sys.executable, (), 2
sys.exit(dev.whole("not trials", "-q"))
"""


@pytest.mark.parametrize(("broken", "code"), [(0, 0), (1, 1), (9, 1)])
def test_failed_tests_are_run_once_more_alone(tmp_path: Path, broken: int, code: int) -> None:
    done = run_whole(tmp_path, UNSTEADY.replace("BROKEN", str(broken)))

    assert done.returncode == code, done.stdout
    assert "once more, alone:" in done.stdout
    named = "passed alone, to be mended:\n  test_kinds.py::test_unsteady"
    assert (named in done.stdout) is (code == 0)


def test_many_failures_are_not_run_again(tmp_path: Path) -> None:
    done = run_whole(tmp_path, UNSTEADY.replace("BROKEN != 1", "False").replace("BROKEN", "9"))

    assert (done.returncode, "once more" in done.stdout) == (1, False)


@pytest.mark.parametrize(
    ("whole", "gate", "code", "runs"),
    [
        ((0,), (0,), 0, 1),
        ((1,), (), 1, 1),
        # A process has ended, and what it measured is missing.
        ((0, 0), (2, 0), 0, 2),
        ((0, 0), (2, 2), 2, 2),
        ((0, 1), (2,), 1, 2),
    ],
)
def test_what_a_lost_process_measured_is_measured_again(
    monkeypatch: pytest.MonkeyPatch,
    whole: tuple[int, ...],
    gate: tuple[int, ...],
    code: int,
    runs: int,
) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    dev = importlib.import_module("dev")
    codes, gates = iter(whole), iter(gate)

    def next_code(*_options: str) -> int:
        return next(codes)

    def next_gate() -> int:
        return next(gates)

    def nothing(_name: str) -> None: ...

    for name, stand_in in (
        ("install", nothing),
        ("whole", next_code),
        ("coverage_gate", next_gate),
    ):
        monkeypatch.setattr(dev, name, stand_in)

    assert dev.test([]) == code
    assert len(whole) - len([*codes]) == runs
    assert [*gates] == []


def run_whole(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    """Run a suite by the function that `test` and `trials` call."""
    (folder / "test_kinds.py").write_text(tests, encoding="utf-8")
    (folder / "pytest.ini").write_text(MARKERS, encoding="utf-8")
    script = WHOLE.format(root=str(ROOT), folder=str(folder))
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_names_of_tests_do_not_change_with_the_time() -> None:
    """Each process of a session collects all tests, and all must collect the same."""
    here = Path(__file__)
    tests = (path for path in here.parents[1].rglob("*.py") if path != here)
    lines = [line for path in tests for line in path.read_text("utf-8").splitlines()]

    assert [line for line in lines if "gzip.compress(" in line and "mtime=" not in line] == []


def written(folder: Path, *words: str, needed: int = 0, passes: bool = True, **more: str) -> str:
    """Where the test of a session has its folder, whose memory is `memory`."""
    memory, told = folder / "memory", folder / "told"
    memory.mkdir(exist_ok=True)
    conftest = IN_MEMORY.format(folder=str(memory), needed=needed)
    (folder / "conftest.py").write_text(conftest, encoding="utf-8")
    code = WRITES.format(told=str(told), passes=passes)
    (folder / "test_folders.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-P", "-m", "pytest", "-q", "test_folders.py", *words]
    env = {"PYTHONPATH": str(ROOT / "tests"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **more}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
    assert done.returncode == (0 if passes else 1), done
    return told.read_text(encoding="utf-8").splitlines()[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory that is free")
@pytest.mark.parametrize("words", [(), ("-p", "xdist", "-n", "1")], ids=["here", "workers"])
def test_the_folders_of_tests_are_in_memory_where_there_is_room(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    memory = tmp_path / "memory"

    assert Path(written(tmp_path, *words)).is_relative_to(memory)
    assert not [*memory.iterdir()]

    failed = Path(written(tmp_path, *words, passes=False), "seen")
    assert failed.is_relative_to(memory)
    assert failed.exists()

    assert Path(written(tmp_path, *words)).is_relative_to(memory)
    assert not [*memory.iterdir()]


def test_the_folders_of_tests_are_on_the_disk_where_memory_is_short_or_a_place_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "named").mkdir()
    memory = tmp_path / "memory"

    assert not Path(written(tmp_path, needed=2**60)).is_relative_to(memory)
    named = written(tmp_path, TMPDIR=str(tmp_path / "named"))
    assert Path(named).is_relative_to(tmp_path / "named")
