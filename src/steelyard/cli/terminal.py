"""How text reaches a terminal, a file or a pipe."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from steelyard.reports.findings import Paint

_COLOURS = {"error": "red", "warning": "yellow", "good": "green"}


def prepare_streams() -> None:
    """Let a character that the terminal's encoding lacks be written as its escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def show(text: str | bytes, *, is_line: bool = True) -> None:
    """Print a line; bytes are UTF-8 whatever the terminal speaks.

    When the reader has gone, as `head` does, the rest is dropped: the command goes on, and its
    exit code says what it would have said.
    """
    try:
        typer.echo(text, nl=is_line)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_json(value: Any) -> None:
    """Print one JSON value for programs; half a character is written as its escape."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    show(text.encode("utf-8", "backslashreplace"))


def painter() -> Paint:
    """Colours on a terminal, plain text elsewhere or where NO_COLOR is set."""
    wants_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def paint(text: str, style: str) -> str:
        if not wants_colour:
            return text
        if style == "quiet":
            return typer.style(text, dim=True)
        return typer.style(text, fg=_COLOURS.get(style), bold=style == "error")

    return paint
