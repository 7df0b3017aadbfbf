"""`steelyard demo`: it works at once, anywhere, without a network."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

OFFLINE = """
import socket, sys

def refuse(*_args, **_options):
    raise AssertionError("the demo used the network")

socket.socket = socket.create_connection = socket.getaddrinfo = refuse
from steelyard.cli.main import main

sys.argv = ["steelyard", "demo", "--no-serve"]
main()
"""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demo has run once, with no network."""
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(scope="module")
def demo(empty: Path) -> subprocess.CompletedProcess[str]:
    """The demo, run where every use of a socket fails."""
    return subprocess.run(
        [sys.executable, "-c", OFFLINE], cwd=empty, capture_output=True, text=True, check=False
    )


def test_the_demo_runs_in_an_empty_folder_without_a_network(
    demo: subprocess.CompletedProcess[str], empty: Path
) -> None:
    assert (demo.returncode, demo.stderr) == (0, "")
    assert (empty / "steelyard-demo" / "steelyard.yaml").is_file()


def test_the_demo_shows_its_commands_and_their_exit_codes(
    demo: subprocess.CompletedProcess[str],
) -> None:
    assert "$ steelyard validate steelyard-demo/datasets" in demo.stdout
    assert "= did you mean 'expected_messages'?" in demo.stdout
    assert "(exit code 0)" in demo.stdout
    assert "(exit code 1)" in demo.stdout


def test_the_demo_can_be_run_again_in_the_same_folder(
    steelyard: Steelyard, demo: subprocess.CompletedProcess[str], empty: Path
) -> None:
    again = steelyard("demo", cwd=empty)

    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == demo.stdout


def test_the_commands_of_the_demo_work_when_a_user_types_them(
    steelyard: Steelyard, demo: subprocess.CompletedProcess[str], empty: Path
) -> None:
    assert demo.returncode == 0

    done = steelyard("validate", "steelyard-demo/datasets", cwd=empty)

    assert done.returncode == 0
    assert done.stdout in demo.stdout


def test_a_folder_with_other_things_is_left_alone(steelyard: Steelyard, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine", encoding="utf-8")
    done = steelyard("demo", ".", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "steelyard: . is not empty; name another folder for the demo\n"
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_the_readme_shows_what_the_demo_really_prints(
    demo: subprocess.CompletedProcess[str],
) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    taste = readme.split("## A taste")[1].split("```\n")[1]

    assert taste in demo.stdout
