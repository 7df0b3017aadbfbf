"""One line of CSV that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from unicodedata import category, normalize

from steelyard.model.json_value import JsonValue

_FORMULA = frozenset("=+-@\u2212")
_CONTROLS = ("\t", "\r")
_UNSEEN = frozenset(("Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me"))
"""Invisible characters before a sign; a spreadsheet may still see a formula."""
_UNSEEN_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")


def csv_line(values: Iterable[JsonValue]) -> str:
    """The line; text that a spreadsheet would run as a formula gets a leading apostrophe."""
    stream = io.StringIO()
    csv.writer(stream).writerow([_safe(value) for value in values])
    return stream.getvalue()


def plain_cell(cell: str) -> str:
    """The text of a cell without the apostrophe that keeps spreadsheets from running it."""
    text = cell.removeprefix("'")
    return text if text != cell and is_formula(text) else cell


def _safe(value: JsonValue) -> JsonValue:
    return "'" + value if isinstance(value, str) and is_formula(value) else value


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might run the text as a formula; full-width signs count, too."""
    seen = next((sign for sign in text if _is_seen(sign)), "")
    return normalize("NFKC", seen)[:1] in _FORMULA or text.startswith(_CONTROLS)


def _is_seen(sign: str) -> bool:
    return category(sign) not in _UNSEEN and sign not in _UNSEEN_LETTERS
