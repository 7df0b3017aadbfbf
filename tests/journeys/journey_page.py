"""docs/first-hour.md as data: for each journey its files, commands and cells, and their counts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "first-hour.md"
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CELL = re.compile(r"(?<!:\n\n)^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHARED = "questions.csv"
_COUNTED = re.compile(r"^\| \[.+\]\(#([\w-]+)\) \| (\d+) \| (\d+) \|", re.MULTILINE)


class Journey(NamedTuple):
    """What somebody writes and types."""

    files: dict[str, str]
    commands: list[str]
    cells: list[str]


def journeys() -> dict[str, Journey]:
    """Each by the anchor of its heading, with the files before all headings where it uses them."""
    first, *rest = _SECTION.split(PAGE.read_text(encoding="utf-8"))
    shared = dict(_FILE.findall(first))
    found = {
        re.sub(r"[^\w-]", "", title.lower().replace(" ", "-")): Journey(
            (shared if _SHARED in text else {}) | dict(_FILE.findall(text)),
            [line for block in _COMMANDS.findall(text) for line in block.splitlines()],
            _CELL.findall(text),
        )
        for title, text in zip(rest[::2], rest[1::2], strict=True)
    }
    return {name: journey for name, journey in found.items() if journey.commands}


def counted() -> dict[str, tuple[int, int]]:
    """How many commands and cells the table of the page says each takes."""
    table = _COUNTED.findall(PAGE.read_text(encoding="utf-8"))
    return {name: (int(commands), int(cells)) for name, commands, cells in table}
