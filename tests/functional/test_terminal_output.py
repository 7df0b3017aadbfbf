"""On a terminal a run has colours and a bar, and what others wrote commands nothing."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from pseudo_terminal import in_terminal, last_state
from steelyard.usecases.init import scaffold

SEQUENCE = re.compile(r"\x1b\[(?:\d{1,3}(?:;\d{1,3})*)?m|\x1b\[\?25[lh]|\x1b\[\d?[AK]")


def shown(folder: Path, dataset: str) -> str:
    scaffold(folder)
    words = ("run", dataset, "--target", "echo", "--rubric", "rubric/first@1.0")
    return in_terminal((sys.executable, "-m", "steelyard", *words), folder, os.environ)


def test_a_run_draws_a_bar_and_colours(tmp_path: Path) -> None:
    text = shown(tmp_path, "datasets/first.yaml")
    seen = SEQUENCE.sub("", last_state(text))

    assert "\x1b[2K" in text
    assert "━━━ 2/2 2 passed" in seen
    assert "\nfirst × echo  completed" in seen
    assert "·" not in seen
    assert "\x1b" not in seen


def test_the_name_of_a_file_commands_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    name = "datasets/a\x1b[2J\x1b]0;b\x07.csv"
    (tmp_path / name).write_text("id,input\none,Hello\n", encoding="utf-8")
    seen = SEQUENCE.sub("", shown(tmp_path, name))

    assert "2/2" in seen or "1/1" in seen
    assert "\x1b" not in seen
    assert "\x07" not in seen
