"""How much a file that was sent may hold; counted before anything is built from it."""

from __future__ import annotations

from typing import BinaryIO

from steelyard.errors import ParseError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_outline import has_more_values, most_values, outline
from steelyard.formats.json_text import raw_members
from steelyard.formats.jsonl import jsonl_lines

MAX_VALUES = 3_000_000
"""The most values of a JSON document that is read as a whole, and of a line of JSONL."""
MAX_RECORD_VALUES = 12_000_000
"""The most values of a document that is read record by record."""
MAX_HEADER_VALUES = 100_000
"""The most values beside the records of a dataset document that is posted to be run."""
MAX_MEMBERS = 1_000
"""The most fields at the top level of a document."""
MAX_ITEMS = 1_000_000
"""The most values in the lists and objects at the top level of a document."""
MAX_YAML_MARKS = 1_000_000
"""The most marks of YAML that can begin a value; each value takes far more memory than in JSON."""
_YAML_MARKS = (b",", b"[", b"{", b":", b"-", b"?")


def document_refusal(
    data: bytes, *, has_records: bool = True, beside: int = MAX_VALUES
) -> str | None:
    """Why a JSON document would take too much memory or time; None where it does not.

    The records of a dataset document are read one by one, and count apart from the rest.
    """
    values, most = most_values(data), MAX_RECORD_VALUES if has_records else MAX_VALUES
    if values > most and has_more_values(data, most):
        return f"the document has more than {most:,} values"
    if values <= MAX_MEMBERS:
        return None
    counts = outline(data)
    if counts.is_object and counts.outer > MAX_MEMBERS:
        return f"the document has more than {MAX_MEMBERS:,} fields at its top level"
    if max(counts.outer, counts.inner if counts.is_object else 0) > MAX_ITEMS:
        return f"the document has more than {MAX_ITEMS:,} items in its lists"
    if values > beside and _has_more_beside_records(data, beside):
        return f"the document has more than {beside:,} values beside records"
    return None


def lines_refusal(stream: BinaryIO) -> str | None:
    """Why a line of JSONL would take too much memory; None where none does."""
    for number, line in jsonl_lines(stream):
        if len(line) > MAX_VALUES and has_more_values(line, MAX_VALUES):
            return f"line {number} has more than {MAX_VALUES:,} values"
    return None


def yaml_refusal(data: bytes) -> str | None:
    """Why a YAML document would take too much memory; None where it does not."""
    if len(data) > MAX_YAML_MARKS and sum(map(data.count, _YAML_MARKS)) > MAX_YAML_MARKS:
        return f"the document has more than {MAX_YAML_MARKS:,} values"
    return None


def _has_more_beside_records(data: bytes, most: int) -> bool:
    try:
        members = raw_members(without_bom(data))
    except ParseError:
        return has_more_values(data, most)
    beside = b",".join(bytes(raw) for name, raw in members.items() if name != "records")
    return has_more_values(beside, most)
