"""The repository holds what it should and nothing else."""

from __future__ import annotations

import os
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

import steelyard

ROOT = Path(__file__).parents[2]
ALLOWED = {
    *(".ci", ".git", ".github", ".gitattributes", ".gitignore", ".pre-commit-config.yaml"),
    ".pre-commit-hooks.yaml",
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"),
    *("bench", "dev.py", "docs", "examples", "locks", "pyproject.toml", "src", "tests"),
}
COMMANDS = ("python3 dev.py demo", "python3 dev.py test")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_root_holds_no_scratch_files() -> None:
    ignored = [line.strip("/") for line in read(".gitignore").split()]
    kept = [
        entry.name
        for entry in ROOT.iterdir()
        if not any(fnmatch(entry.name, pattern) for pattern in ignored)
    ]

    assert set(kept) - ALLOWED == set()


@pytest.mark.parametrize("name", ["run", "dev"])
def test_a_lock_file_names_hashes_and_no_address(name: str) -> None:
    lock = read(f"locks/{name}.txt")

    assert "--hash=sha256:" in lock
    assert re.search("https?://", lock) is None


def test_the_version_is_the_same_everywhere() -> None:
    assert tomllib.loads(read("pyproject.toml"))["project"]["version"] == steelyard.__version__


def test_the_changelog_begins_with_this_version() -> None:
    newest = re.search(r"^## \[?(\d[^\]\s]*)", read("CHANGELOG.md"), re.MULTILINE)

    assert newest
    assert newest[1] == steelyard.__version__


def test_ci_runs_the_tests_as_a_person_would() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    lines = read(".ci/run").splitlines()
    assert "export CI=true" in lines, "without it, tests of missing parts are skipped"
    assert lines[-3:] == [
        "python3 dev.py check --no-tests",
        "python3 dev.py test",
        "python3 dev.py trials",
    ]


@pytest.mark.parametrize("command", ["setup", "test", "trials", "check", "soak", "docs"])
def test_the_page_for_contributors_names_every_command(command: str) -> None:
    assert f"python3 dev.py {command} " in read("CONTRIBUTING.md")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_readme_shows_how_to_begin(command: str) -> None:
    assert command in read("README.md")
