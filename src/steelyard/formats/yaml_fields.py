"""Other values for fields at the top of a YAML file; all else stays as people wrote it."""

from __future__ import annotations

import re

from steelyard.errors import ParseError
from steelyard.formats.yaml_text import parse_yaml
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.json_value import JsonObject

_END = re.compile(rb"^(\.\.\.|---)(\s|$)")


def with_fields(data: bytes, fields: JsonObject) -> bytes | None:
    """The file with these fields set; None where that cannot be done without a rewrite.

    Comments and layout of everything else are kept. What comes out is read again: it must say
    what the file said, with the new values.
    """
    lines = data.splitlines(keepends=True)
    newline = b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n"
    for name, value in fields.items():
        # Where a text ends in a line break, the writer marks the end of the file.
        block = write_yaml({name: value}).removesuffix(b"...\n").replace(b"\n", newline)
        lines = _placed(lines, name, block, newline)
    made = b"".join(lines)
    try:
        before, after = parse_yaml(data).value, parse_yaml(made).value
    except ParseError:
        return None
    is_same = isinstance(before, dict) and after == {**before, **fields}
    return made if is_same else None


def _placed(lines: list[bytes], name: str, block: bytes, newline: bytes) -> list[bytes]:
    """The lines with a field in the place that it has, or else at the end."""
    key = re.compile(rb"^[\"']?" + re.escape(name.encode()) + rb"[\"']?\s*:(\s|$)")
    start = next((at for at, line in enumerate(lines) if key.match(line)), None)
    if start is None:
        end = next((at for at, line in enumerate(lines) if at and _END.match(line)), len(lines))
        before = lines[:end]
        if before and not before[-1].endswith(b"\n"):
            before[-1] += newline
        return [*before, block, *lines[end:]]
    end = start + 1
    while (end < len(lines) and not lines[end].strip()) or _is_within(lines, end):
        end += 1
    # What stands between two fields belongs to the second.
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return [*lines[:start], block, *lines[end:]]


def _is_within(lines: list[bytes], at: int) -> bool:
    """Whether a line goes on with the field before it: it is indented, or an item of its list."""
    return at < len(lines) and lines[at][:1] in {b" ", b"\t", b"-"} and not _END.match(lines[at])
