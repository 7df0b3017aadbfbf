"""The guide for moving from promptfoo: its project and its commands, as a user types them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
PAGE = Path(__file__).parents[2] / "docs" / "from-promptfoo.md"


def test_the_commands_of_the_guide_lead_from_a_promptfoo_project_to_a_comparison(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    blocks = re.findall(r"```\w*\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        named = re.match(r"# (\S+\.(?:yaml|txt|csv))\n", block)
        if named:
            file = tmp_path / named[1]
            file.parent.mkdir(exist_ok=True)
            file.write_text(block[named.end() :], encoding="utf-8")
    (commands,) = [block.splitlines() for block in blocks if block.startswith("steelyard ")]
    convert, run, compare = [steelyard(*line.split()[1:], cwd=tmp_path) for line in commands]

    assert convert.returncode == 0
    assert "3 read = 3 written + 0 invalid + 0 skipped + 0 left out" in convert.stderr
    assert f"next      {commands[1]}" in convert.stderr
    assert "lost" not in convert.stderr
    assert "2 of 3 evaluated" in run.stdout
    assert "3 of 3 evaluated" in run.stdout
    assert compare.returncode == 0
    assert "pairs      3 records with a score in both runs" in compare.stdout
