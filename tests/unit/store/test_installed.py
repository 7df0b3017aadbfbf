"""What is installed, and what a run is executed on."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from steelyard.errors import RunError
from steelyard.store.installed import (
    environment,
    installed_plugins,
    offered,
    require_plugins,
)

POINTS = "[steelyard.checks]\nmoo = cows:SaysMoo\n"


def install(folder: Path) -> None:
    """A package with a check."""
    package = folder / "cows-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Name: cows\nVersion: 1.0\n", encoding="utf-8")
    (package / "entry_points.txt").write_text(POINTS, encoding="utf-8")


def test_what_is_offered_changes_with_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path)
    before = {point.name for point in offered("steelyard.checks")}
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])

    assert {point.name for point in offered("steelyard.checks")} == {*before, "moo"}
    assert not {point.name for point in offered("steelyard.targets")} & {"moo"}
    assert offered("pytest11")


@pytest.mark.parametrize(
    ("wanted", "wrong"),
    [
        ({"cows": "1.0"}, ""),
        ({"cows": "1.1"}, "has cows 1.0, not 1.1"),
        ({"cows": "1.0", "ants": "2"}, "has no ants 2"),
        ({}, "has cows 1.0, which the process that holds the run lacks"),
        ({"bees": "3", "cows": "2.0"}, "has no bees 3; it has cows 1.0, not 2.0"),
    ],
)
def test_a_process_with_other_plugins_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, str], wrong: str
) -> None:
    others = installed_plugins()
    install(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    refusal = f"plug-ins differ: the node {platform.node()} {wrong}; install the same"

    with pytest.raises(RunError, match=re.escape(refusal)) if wrong else nullcontext():
        require_plugins({**others, **wanted})


def test_the_platform_is_named_as_python_names_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import platform; print(platform.platform())"],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )

    assert environment()["platform"] == done.stdout.strip()
    assert environment()["python"] == platform.python_version()
