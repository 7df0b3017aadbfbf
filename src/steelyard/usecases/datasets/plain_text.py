"""Text that no contract is: a table, or words without fields."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from steelyard.contracts.importers.table import suggested_columns
from steelyard.formats.records import csv_delimiter, table_header
from steelyard.model.finding import Finding, error

HEAD = 4096
"""So many bytes of a file tell whether it is a table."""
TABLES = (".csv", ".tsv")
_SEPARATORS = (",", ";", "\t")
_NO_TABLE = ("{", "[", "-", "#", "`", "<", '"{', "'{")
_CONVERT = "`steelyard convert` makes a dataset of a table: it maps columns to `id` and `input`"


def table_finding(head: bytes, path: Path) -> Finding | None:
    """The finding for a file that begins like a table; None for any other."""
    is_named = path.suffix.lower() in TABLES and _has_header(head)
    if not is_named and not is_table(head):
        return None
    if not is_named:
        message = "this is a table (CSV), which is not read as a dataset"
        return replace(error("unsupported_format", message, line=1), hint=_CONVERT)
    message = run_advice(str(path), _header(head))
    return replace(error("unsupported_format", message, line=1), hint=_CONVERT)


def run_advice(path: str, found: Sequence[str]) -> str:
    """What a table has, and the command that runs it."""
    names = {"input": "COLUMN", "expected": "COLUMN", **suggested_columns(found)}
    words = ("steelyard", "run", path, "--input", names["input"], "--expected", names["expected"])
    return f"{table_with(found)}; run it with: {shlex.join(words)}"


def table_with(found: Collection[str]) -> str:
    """What a table has."""
    names = ", ".join(f"'{name}'" for name in found) or "none"
    return f"this is a table with the columns {names}"


def _has_header(head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace").lstrip()
    return bool(text) and not text.startswith(("{", "["))


def _header(head: bytes) -> list[str]:
    """The names in the first line of a table."""
    text = head.decode("utf-8-sig", "replace")
    rows = csv.reader(io.StringIO(text), delimiter=csv_delimiter(head))
    return table_header(row for row in rows if row)


def is_table(head: bytes) -> bool:
    """Whether the first two lines have the same columns, and are not JSON or fields of YAML."""
    lines = [line for line in head.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    if len(lines) < 2 or lines[0].lstrip().startswith(_NO_TABLE) or ": " in lines[0]:
        return False
    counts = [(lines[0].count(one), lines[1].count(one)) for one in _SEPARATORS]
    return any(first and first == second for first, second in counts)
