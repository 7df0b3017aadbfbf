"""The lines of a JSONL stream, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from steelyard.formats.encoding import without_bom
from steelyard.model.json_value import JsonObject

MAX_LINE = 64 * 1024 * 1024


def jsonl_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Every line that is not blank, with its physical number and without its end.

    Lines end in LF alone. Of a line longer than `MAX_LINE` only the beginning comes, which is
    still longer, so that it can be told from others.
    """
    limit = MAX_LINE + 2
    # One generator, not two: the second would cost every row of every file.
    for number, line in enumerate(iter(partial(stream.readline, limit), b""), start=1):
        if len(line) == limit:
            _pass_over_rest(stream, line, limit)
        text = line.rstrip(b"\r\n")
        if number == 1:
            text = without_bom(text)
        if text.startswith(b"{") or text.decode("utf-8", "replace").strip():
            yield number, text


def _pass_over_rest(stream: BinaryIO, line: bytes, limit: int) -> None:
    while len(line) == limit and not line.endswith(b"\n"):
        line = stream.readline(limit)


def row_bytes(row: JsonObject) -> bytes:
    """A row as a line; what UTF-8 cannot hold is written as an escape."""
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
