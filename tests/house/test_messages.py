"""Messages name arguments; only the command line names options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steelyard.cli.main import command_line
from steelyard.cli.terminal import option

SOURCE = Path(__file__).parents[2] / "src" / "steelyard"
COMMAND_LINE = {"cli", "demo", "reports"}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OF_OTHER_PROGRAMS = {
    ("programs.py", "--unshare-net"),  # bwrap
    ("programs.py", "--die-with-parent"),
    ("programs.py", "--dev-bind"),
    ("inspect_logs.py", "--to"),  # inspect log convert
    ("plain_text.py", "--input"),  # a whole command to type
    ("plain_text.py", "--expected"),
}
# A file of another tool is no dataset: its finding says the whole command that makes it one.
WHOLE_COMMANDS = {("open_dataset.py", "--from"), ("open_dataset.py", "--to")}


def nodes() -> Iterator[tuple[Path, ast.AST]]:
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] not in COMMAND_LINE:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from ((path, node) for node in ast.walk(tree))


def options(command: Any) -> Iterator[str]:
    """Every option of a command and of those beneath it."""
    for parameter in command.params:
        yield from parameter.opts
    for inner in getattr(command, "commands", {}).values():
        yield from options(inner)


def test_no_text_names_an_option_but_those_of_the_command_line() -> None:
    named = {
        (path.name, found)
        for path, node in nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for found in OPTION.findall(node.value)
    }

    assert named == OF_OTHER_PROGRAMS | WHOLE_COMMANDS


def test_every_argument_that_a_message_names_has_its_option() -> None:
    named = {
        node.args[0].value
        for _, node in nodes()
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "argument"
        and isinstance(node.args[0], ast.Constant)
    }

    assert len(named) > 10
    assert {option(str(name)) for name in named} - {*options(command_line())} == set()
