"""What is installed, and what a run is executed on."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.store.installed import environment, offered

if TYPE_CHECKING:
    import pytest

POINTS = "[steelyard.checks]\nmoo = cows:SaysMoo\n"


def test_what_is_offered_changes_with_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "cows-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Name: cows\nVersion: 1.0\n", encoding="utf-8")
    (package / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    before = {point.name for point in offered("steelyard.checks")}
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])

    assert {point.name for point in offered("steelyard.checks")} == {*before, "moo"}
    assert not {point.name for point in offered("steelyard.targets")} & {"moo"}
    assert offered("pytest11")


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
