"""The table of the completion scripts against the command line itself."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from steelyard.cli.completion import table_lines
from steelyard.cli.main import command_line


def commands(group: Any, path: str = "") -> dict[str, Any]:
    """Every command by what is typed for it."""
    found = {path: group}
    for name, one in getattr(group, "commands", {}).items():
        found |= commands(one, f"{path} {name}".strip())
    return found


def test_every_command_with_its_visible_options_is_in_the_table() -> None:
    known = commands(command_line())
    options: dict[str, set[str]] = defaultdict(set)
    for line in table_lines(command_line()):
        kind, path, *cells = line.split("\t")
        if kind == "O":
            options[path] |= set(cells[0].split())

    assert options.keys() == known.keys()
    for path, one in known.items():
        visible = {
            name
            for param in one.params
            for name in (*param.opts, *param.secondary_opts)
            if name.startswith("-")
        }
        assert options[path] == (visible | {"--help"}) - {"--watch-report"}, path


def test_every_line_has_its_cells_and_no_quote_ends_the_table() -> None:
    cells = {"C": 4, "O": 5, "A": 3}
    lines = list(table_lines(command_line()))

    assert "STEELYARD" not in lines
    assert [line for line in lines if line.count("\t") + 1 != cells[line[0]]] == []
