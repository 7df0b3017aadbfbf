"""`steelyard run --watch`: again after every change of what the run reads."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import TypeAlias

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
LIMIT_S = 120
SETTINGS = "targets:\n  mine: {provider: echo, prompt: 'Say {{input}}'}\n"
RUBRIC = """\
id: paris
version: 1.0.0
checks: [{id: says, kind: must_contain_any, phrases: [Paris]}]
scoring: {combine: all_pass}
"""
TYPED = ("t.csv", "--input", "q", "--prompt", "p.md", "--target", "mine", "--rubric", "paris")


class Watching:
    """A watching command, whose lines are read as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def until(self, text: str) -> str:
        """Everything up to a line with a text."""
        said = ""
        while text not in said:
            said += self._lines.get(timeout=LIMIT_S)
        return said

    def end(self) -> int:
        """Its exit code after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=LIMIT_S)
        self._reader.join()
        return code

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)


@contextmanager
def watching(folder: Path, *words: str) -> Generator[Watching]:
    command = (sys.executable, "-u", "-m", "steelyard", "run", *words, "--watch")
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as process:
        try:
            yield Watching(process)
        finally:
            process.kill()


def replace_text(path: Path, text: str) -> None:
    """Write as editors do: a new file takes the place of the old one."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "steelyard.yaml").write_text(SETTINGS)
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "paris.yaml").write_text(RUBRIC)
    (tmp_path / "t.csv").write_text("q\nParis\nLyon\n")
    (tmp_path / "p.md").write_text("{{input}}")
    return tmp_path


def test_a_changed_table_runs_again_and_is_compared(project: Path) -> None:
    with watching(project, *TYPED, "--out", "markdown=r.md") as run:
        first = run.until("Ctrl-C ends")
        replace_text(project / "t.csv", "q\nParis\nLyon or Paris\n")
        second = run.until("Ctrl-C ends")
        code = run.end()

    assert "1 of 2 evaluated" in first
    assert "t.csv changed; running again" in second
    assert "2 of 2 evaluated" in second
    assert "since the run before:\ncompared with t × mine+p.md" in second
    assert "| records | 2 = 2 evaluated" in (project / "r.md").read_text(encoding="utf-8")
    assert code == 130
    assert len(list((project / ".steelyard" / "runs").glob("run_*"))) == 2


@pytest.mark.trials
def test_every_input_of_a_run_is_watched_also_while_it_is_broken(project: Path) -> None:
    changes = {
        "p.md": ("Paris {{input}}", "2 of 2 evaluated"),
        "rubrics/paris.yaml": (RUBRIC.replace("[Paris]", "[Rome]"), "0 of 2 evaluated"),
        "steelyard.yaml": ("targets: [", "steelyard.yaml"),
        "t.csv": ("q\nRome\n", "steelyard.yaml"),
    }
    with watching(project, *TYPED) as run:
        run.until("Ctrl-C ends")
        for name, (text, said) in changes.items():
            replace_text(project / name, text)
            after = run.until("Ctrl-C ends")

            assert f"{name} changed; running again" in after
            assert said in after
        replace_text(project / "steelyard.yaml", SETTINGS)
        repaired = run.until("Ctrl-C ends")
        code = run.end()

    assert "1 of 1 evaluated" in repaired
    assert code == 130


@pytest.mark.trials
def test_code_and_files_of_targets_are_watched_and_loaded_anew(project: Path) -> None:
    (project / "bot.py").write_text("def answer(prompt):\n    return 'Lyon'\n")
    (project / "steelyard.yaml").write_text(
        "targets:\n  mine: {provider: python, callable: 'bot:answer'}\n"
    )
    with watching(project, *TYPED) as run:
        before = run.until("Ctrl-C ends")
        replace_text(project / "bot.py", "def answer(prompt):\n    return 'Paris'\n")
        after = run.until("Ctrl-C ends")

    assert "0 of 2 evaluated" in before
    assert "bot.py changed" in after
    assert "2 of 2 evaluated" in after


@pytest.mark.trials
def test_ctrl_c_during_a_run_stops_it_once_and_leaves_it_resumable(
    project: Path, steelyard: Steelyard
) -> None:
    (project / "slow.py").write_text(
        "import pathlib, sys\npathlib.Path('asked').touch()\nsys.stdin.read()\n"
        "import signal; signal.pause()\n"
    )
    (project / "steelyard.yaml").write_text(
        f"targets:\n  mine: {{provider: command, command: [{sys.executable}, slow.py]}}\n"
    )
    with watching(project, *TYPED) as run:
        run.until("records")
        limit = time.monotonic() + LIMIT_S
        while not (project / "asked").exists() and time.monotonic() < limit:
            time.sleep(0.01)
        code = run.end()
    runs = steelyard("runs", cwd=project)

    assert code == 130
    assert "stopped, can be resumed" in runs.stdout


@pytest.mark.parametrize("word", ["--plan", "--server=http://127.0.0.1:1"])
def test_what_makes_no_run_here_is_refused(word: str, project: Path, steelyard: Steelyard) -> None:
    done = steelyard("run", *TYPED, "--watch", word, cwd=project)

    assert done.returncode == 2
    assert word.partition("=")[0] in done.stderr
