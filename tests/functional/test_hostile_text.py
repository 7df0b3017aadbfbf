"""Text that was made to be slow, through the whole command."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from fakes.projects import row

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
SOON_S = 15.0


def test_an_answer_of_backslashes_does_not_hold_a_run_up(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    text = "\\" * 300_000 + " a@b.com"
    (tmp_path / "d.jsonl").write_text(json.dumps(row("a", input=text)), encoding="utf-8")
    begin = time.monotonic()
    done = steelyard("run", "d.jsonl", "--target", "echo", cwd=tmp_path)

    assert (done.returncode, time.monotonic() - begin < SOON_S) == (0, True)


def test_a_guideline_pattern_does_not_hold_a_run_up(steelyard: Steelyard, tmp_path: Path) -> None:
    name = "a" * 200 + ".md"
    (tmp_path / name).write_text("Be brief.", encoding="utf-8")
    (tmp_path / "steelyard.yaml").write_text(
        f"guideline_patterns: ['{'*a' * 20}*b']\n", encoding="utf-8"
    )
    shown = [{"role": "user", "content": [{"type": "file", "value": name}]}]
    case = row("a")
    del case["input"]
    case["input_messages"] = shown
    (tmp_path / "d.jsonl").write_text(json.dumps(case), encoding="utf-8")
    begin = time.monotonic()
    done = steelyard("run", "d.jsonl", "--target", "echo", cwd=tmp_path)

    assert (done.returncode, time.monotonic() - begin < SOON_S) == (0, True), done.stderr


def test_a_long_text_with_many_aliases_is_refused(steelyard: Steelyard, tmp_path: Path) -> None:
    head = "id: a\nevalcases:\n- id: a\n  expected_outcome: b\n  input: &long "
    aliases = ", ".join(["*long"] * 90_000)
    text = f"{head}{'x' * 1_000_000}\n  metadata: {{all: [{aliases}]}}\n"
    (tmp_path / "d.yaml").write_text(text, encoding="utf-8")
    checked = steelyard("validate", "d.yaml", cwd=tmp_path)
    done = steelyard("run", "d.yaml", "--target", "echo", cwd=tmp_path)

    assert (checked.returncode, done.returncode) == (1, 2)
    assert "aliases stand for more than 16,000,000 characters" in checked.stdout + checked.stderr
