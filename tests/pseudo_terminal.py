"""A command in a pseudo-terminal, as a person sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

COLUMNS, ROWS = 118, 40


def _ignore(_text: str, _pid: int) -> None:
    """Only the whole of the text matters."""


def in_terminal(
    words: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    watch: Callable[[str, int], None] = _ignore,
) -> str:
    """All that a command writes to its terminal, with the sequences that command it.

    `watch` is called with the text so far and the id of the process, whenever there is more.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    clean = {name: value for name, value in environ.items() if name not in {"NO_COLOR", "CI"}}
    with subprocess.Popen(
        words,
        stdin=its,
        stdout=its,
        stderr=its,
        cwd=folder,
        env={**clean, "TERM": "xterm-256color"},
    ) as process:
        os.close(its)
        pieces: list[bytes] = []
        with os.fdopen(ours, "rb", buffering=0) as stream:
            try:
                while piece := stream.read(65536):
                    pieces.append(piece)
                    watch(b"".join(pieces).decode("utf-8", "replace"), process.pid)
            except OSError:  # how Linux says that the other end was closed
                pass
    return b"".join(pieces).decode("utf-8")


def last_state(text: str) -> str:
    """What is left on the screen: of a line that was drawn several times, the last time."""
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return "\n".join(line.replace("\x1b[2K", "") for line in lines)
