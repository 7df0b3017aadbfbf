"""dev.py installs without chatter, and a test session ends by saying what it left out."""

from __future__ import annotations

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
