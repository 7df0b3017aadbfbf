"""How text looks on a terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from steelyard.reports.findings import Paint

_COLOURS = {"error": "red", "warning": "yellow", "good": "green"}


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
