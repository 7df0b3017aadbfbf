"""Other users of the machine cannot read what a run keeps, whatever the umask."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

from fakes.desk_project import write_desk

DESK = "datasets/desk.jsonl"


def test_what_a_run_keeps_is_its_users_alone_without_a_umask(tmp_path: Path) -> None:
    root = write_desk(tmp_path)
    for words in (("run", DESK, "--target", "agent"), ("rubric", "publish", "polite@1.0")):
        subprocess.run(
            [sys.executable, "-m", "steelyard", *words],
            cwd=root,
            umask=0,
            check=False,
            capture_output=True,
        )
    data = root / ".steelyard"
    found = [data, *data.rglob("*")]
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in found}
    registry = data / "registry"

    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert modes[data / "steelyard.db"] == 0o600
    sealed = [path for path in found if path.is_file() and path.parent != data]
    assert {modes[path] for path in sealed} == {0o400}
    assert len([path for path in sealed if path.is_relative_to(data / "runs")]) == 8
    assert any(path.is_relative_to(registry) for path in sealed)
