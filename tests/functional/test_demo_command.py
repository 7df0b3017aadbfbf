"""`steelyard demo`: it works at once, anywhere, without a network."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

OFFLINE = """
import sys

def watch(event, arguments):
    if event in {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"}:
        raise AssertionError(f"the demo used the network: {event} {arguments}")

sys.addaudithook(watch)
from steelyard.cli.main import main

sys.argv = ["steelyard", "demo", "--no-serve"]
try:
    main()
finally:
    if "aiohttp" in sys.modules:
        raise AssertionError("the demo loaded a client for the network")
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


@pytest.mark.parametrize(
    "told",
    [
        "$ steelyard validate datasets",
        "= did you mean 'expected_messages'?",
        "$ steelyard run datasets/helpdesk.jsonl --target assistant_a --target assistant_b",
        "1 retried",
        "weak slice tags = fees",
        "(exit code 4)",
        "fees-blocked-card  timeout",
        "changed   predictions.jsonl",
        "wrote report.html",
    ],
)
def test_the_demo_tells_its_story(demo: subprocess.CompletedProcess[str], told: str) -> None:
    assert told in demo.stdout


def test_both_runs_show_their_interval_and_denominators(
    demo: subprocess.CompletedProcess[str],
) -> None:
    rates = re.findall(r"pass rate  \d+\.\d % \[\d+\.\d, \d+\.\d\]  \d+ of \d+", demo.stdout)

    assert len(rates) >= 2


def test_the_demo_ends_on_a_report(demo: subprocess.CompletedProcess[str], empty: Path) -> None:
    assert demo.returncode == 0

    page = (empty / "steelyard-demo" / "report.html").read_text(encoding="utf-8")

    assert "library-helpdesk × assistant_b" in page


def test_the_demo_can_be_run_again_in_the_same_folder(
    steelyard: Steelyard, demo: subprocess.CompletedProcess[str], empty: Path
) -> None:
    assert demo.returncode == 0

    again = steelyard("demo", cwd=empty)

    assert again.returncode == 0
    assert "changed   predictions.jsonl" in again.stdout


def test_the_commands_of_the_demo_work_when_a_user_types_them(
    steelyard: Steelyard, demo: subprocess.CompletedProcess[str], empty: Path
) -> None:
    done = steelyard("validate", "datasets", cwd=empty / "steelyard-demo")

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
    validated, ran = readme.split("## A taste")[1].split("From Python")[0].split("```\n")[1::2]

    assert validated in demo.stdout
    assert ran in demo.stdout
