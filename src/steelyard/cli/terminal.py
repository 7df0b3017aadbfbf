"""Output to a terminal, a file or a pipe."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import typer

from steelyard.errors import SteelyardError

if TYPE_CHECKING:
    from steelyard.reports.findings import Paint

_ERRORS = "backslashreplace"
_COLOURS = {"error": "red", "warning": "yellow", "good": "green"}
_OPTIONS = {
    "is_written": "--write",
    "made_from": "--from",
    "names": "--map",
    "output": "-o",
    "runs": "--run",
}
"""Options that are not called as the arguments they fill."""
_CONTROL = re.compile(
    "\x1b\\[(?:0|1|2|31|32|33)m|\r?\n|\r$|\t|[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
"""Control characters and marks of direction; with the few that are ours, which stay."""
_DRAWN = re.compile(
    r"\x1b\[(?:\d{1,3}(?:;\d{1,3})*)?m|\x1b\[\?25[lh]|\x1b\[\d?[AK]"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
"""The sequences of a progress bar, which stay, and every other control character."""
_OWN = re.compile("\x1b.*m|[\r\n\t]+", re.DOTALL)
_NOTED = re.compile("`(against|check|design|flatten|replace)`|(?<=more than )(allow-failures)")
"""The arguments that notes, refusals and gates name."""


def for_terminal(text: str) -> str:
    """Text without characters that would let its author command the reader's terminal."""
    return text if text.isprintable() else _CONTROL.sub(_harmless, text)


def _harmless(found: re.Match[str]) -> str:
    return found[0] if _OWN.fullmatch(found[0]) else "·"


class _Forgiving(io.TextIOWrapper):
    """stderr that ignores write errors."""

    def write(self, text: str, /) -> int:
        self.draw(for_terminal(text) if self.isatty() else text)
        return len(text)

    def draw(self, text: str) -> None:
        """Write text as it is."""
        try:
            super().write(text)
        except OSError:
            _silence(2)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            _silence(2)


class DrawnStderr:
    """stderr for a progress bar, whose sequences move the cursor and colour; no others pass.

    What others wrote must have gone through `for_terminal` before.
    """

    def __init__(self) -> None:
        # While a bar is shown, `sys.stderr` prints above it through this very stream.
        self._stream = sys.stderr
        self.encoding = sys.stderr.encoding

    def write(self, text: str) -> int:
        """Write what is drawn."""
        shown = _DRAWN.sub(lambda found: found[0] if len(found[0]) > 1 else "·", text)
        stream = self._stream
        if isinstance(stream, _Forgiving):
            stream.draw(shown)
        else:
            stream.write(shown)
        return len(text)

    def flush(self) -> None:
        """Show what was written."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The descriptor of which the size is asked."""
        return self._stream.fileno()


def prepare_streams() -> None:
    """Make the standard streams safe to write to.

    Characters that the encoding lacks are escaped. A closed stream is redirected to /dev/null:
    otherwise the next opened file gets its descriptor, and output is written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            _silence(number)
    # Python has no stream object for a descriptor that was closed at startup.
    out, err = (cast(Any, stream) for stream in (sys.stdout, sys.stderr))
    if out is None:
        sys.stdout = out = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if err is None:
        sys.stderr = err = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if isinstance(out, io.TextIOWrapper):
        cast(Any, out).reconfigure(errors=_ERRORS)
    if isinstance(err, io.TextIOWrapper):
        encoding: str = cast(Any, err).encoding
        under = cast(Any, err).detach()
        sys.stderr = _Forgiving(under, encoding, errors=_ERRORS, line_buffering=True)


def _silence(number: int) -> None:
    """Redirect a descriptor to /dev/null."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)


def option(name: str) -> str:
    """The option that fills an argument."""
    return _OPTIONS.get(name) or f"--{name.replace('_', '-')}"


def error_text(error: BaseException) -> str:
    """The message of an error, with arguments named as options."""
    return error.phrased(option) if isinstance(error, SteelyardError) else str(error)


def show(text: str | bytes, *, is_line: bool = True) -> None:
    """Print a line; bytes are UTF-8 whatever the terminal's encoding.

    Files and pipes get it as it is; a terminal is not commanded by it.
    If the reader has closed the pipe, as `head` does, the rest is dropped and the exit code does
    not change. Any other write error, such as a full disk, is an error.
    """
    if sys.stdout.isatty():
        shown = for_terminal(text if isinstance(text, str) else text.decode("utf-8", "replace"))
        text = shown if isinstance(text, str) else shown.encode()
    try:
        typer.echo(text, nl=is_line)
    except BrokenPipeError:
        _silence(sys.stdout.fileno())
    except OSError as error:
        _silence(sys.stdout.fileno())
        raise OSError(error.errno, error.strerror, "standard output") from None


def show_report(lines: Iterable[str], *, is_error: bool = False) -> None:
    """Print a report; its notes and refusals name arguments as options."""
    for line in lines:
        text = _NOTED.sub(lambda found: option(found[1] or found[2]), line)
        typer.echo(text, err=True) if is_error else show(text)


def show_json(value: Any) -> None:
    """Print one JSON value for programs; lone surrogates are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    show(text.encode("utf-8", "backslashreplace"))


def painter() -> Paint:
    """Colours on a terminal; plain text elsewhere or if NO_COLOR is set."""
    wants_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def paint(text: str, style: str) -> str:
        if not wants_colour:
            return text
        if style == "quiet":
            return typer.style(text, dim=True)
        return typer.style(text, fg=_COLOURS.get(style), bold=style == "error" or None)

    return paint
