"""The tour of the API in the documentation, carried out against a real server."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from servers.serve_process import serving

PAGE = Path(__file__).parents[2] / "docs" / "http.md"
BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCUMENTED = "http://127.0.0.1:8765"


class Step(NamedTuple):
    """A command of the page, and what it prints there."""

    command: str
    output: str


def steps(text: str) -> Iterator[Step]:
    """The commands of the page in order."""
    for kind, block in BLOCK.findall(text):
        if kind == "sh":
            yield Step(block, "")
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = re.split(r"(?<!\\)\n", part, maxsplit=1)
            yield Step(command, "".join(output))


def pattern(output: str) -> str:
    """A line of dots stands for any lines, and dots within a line for any text of it."""
    lines = [
        "(?:.*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + "\n?"
        for line in output.splitlines()
    ]
    return "".join(lines)


@pytest.mark.trials
def test_the_tour_of_the_page_works_as_it_says(tmp_path: Path) -> None:
    assert shutil.which("curl")
    assert shutil.which("jq")
    found = list(steps(PAGE.read_text(encoding="utf-8")))
    assert len(found) > 20

    with serving(tmp_path) as server:
        script = "".join(
            f"{{ {step.command}\n}} > {number}.out 2>&1\n" for number, step in enumerate(found)
        )
        subprocess.run(
            ["bash", "-c", script.replace(DOCUMENTED, server.url)],
            cwd=tmp_path,
            timeout=120,
            check=True,
        )

    for number, step in enumerate(found):
        printed = (tmp_path / f"{number}.out").read_text(encoding="utf-8")
        assert re.fullmatch(pattern(step.output), printed), f"{step.command}\n{printed}"
