"""Text that no contract is: a table, or words without fields."""

from __future__ import annotations

from dataclasses import replace

from steelyard.model.finding import Finding, error

HEAD = 4096
"""So many bytes of a file tell whether it is a table."""
_SEPARATORS = (",", ";", "\t")
_NO_TABLE = ("{", "[", "-", "#", "`", "<", '"{', "'{")
_CONVERT = "`steelyard convert` makes a dataset of a table: it maps columns to `id` and `input`"


def table_finding(head: bytes) -> Finding | None:
    """The finding for a file that begins like a table; None for any other."""
    if not is_table(head):
        return None
    message = "this is a table (CSV), which is not read as a dataset"
    return replace(error("unsupported_format", message, line=1), hint=_CONVERT)


def is_table(head: bytes) -> bool:
    """Whether the first two lines have the same columns, and are not JSON or fields of YAML."""
    lines = [line for line in head.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    if len(lines) < 2 or lines[0].lstrip().startswith(_NO_TABLE) or ": " in lines[0]:
        return False
    counts = [(lines[0].count(one), lines[1].count(one)) for one in _SEPARATORS]
    return any(first and first == second for first, second in counts)
