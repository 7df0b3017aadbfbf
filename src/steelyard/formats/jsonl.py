"""The lines of a JSONL stream, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from steelyard.formats.encoding import without_bom

MAX_LINE = 64 * 1024 * 1024


def jsonl_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Every line that is not blank, with its physical number and without its end.

    Lines end in LF alone. Of a line longer than `MAX_LINE` only the beginning comes, which is
    still longer, so that it can be told from others.
    """
    for number, line in enumerate(_lines(stream), start=1):
        text = without_bom(line) if number == 1 else line
        if text.startswith(b"{") or text.decode("utf-8", "replace").strip():
            yield number, text


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    limit = MAX_LINE + 2
    for line in iter(partial(stream.readline, limit), b""):
        yield line.rstrip(b"\r\n")
        rest = line
        while len(rest) == limit and not rest.endswith(b"\n"):
            rest = stream.readline(limit)
