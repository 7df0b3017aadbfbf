"""Dates as people write them: the day that a text names, without a time and without a locale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import cache

from steelyard.errors import SettingError

FORMS = ("YYYY-MM-DD", "DD-MMM-YYYY", "MM/DD/YYYY", "DD/MM/YYYY")
"""The forms that are tried in turn; of 03/04/2026 the third is March."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_PARTS = {
    "YYYY": r"(?P<year>\d{4})",
    "YY": r"(?P<short>\d{2})",
    "MMMM": r"(?P<word>[a-z]{3,9})",
    "MMM": r"(?P<word>[a-z]{3,9})",
    "MM": r"(?P<month>\d{1,2})",
    "M": r"(?P<month>\d{1,2})",
    "DD": r"(?P<day>\d{1,2})",
    "D": r"(?P<day>\d{1,2})",
}
_ISO = ("iso", "iso8601", "iso-8601")
_TOKEN = re.compile(r"Y+|M+|D+|[^YMD]+")
# After a day there may be a time of ISO 8601, which is of no account.
_ISO_TIME = r"(?:[t ]\d{1,2}:\d{2}.*)?"


def require_forms(forms: Sequence[str]) -> None:
    """A form that cannot be read is a SettingError."""
    for form in forms:
        _pattern(form)


def day_of(text: str, forms: Sequence[str] = ()) -> date | None:
    """The day that a text names; the first form always counts, then those given or all."""
    for form in (FORMS[0], *(forms or FORMS[1:])):
        found = _pattern(form).fullmatch(text.strip().lower())
        day = _date(found.groupdict()) if found else None
        if day:
            return day
    return None


@cache
def _pattern(form: str) -> re.Pattern[str]:
    if form.lower() in _ISO:
        return _pattern(FORMS[0])
    tokens = _TOKEN.findall(form)
    letters = [token for token in tokens if token[0] in "YMD"]
    known = all(token in _PARTS for token in letters)
    if not known or sorted(token[0] for token in letters) != ["D", "M", "Y"]:
        raise SettingError("fields", f"'{form}' is no form of a date; write such as {FORMS[1]}")
    pieces = [_PARTS.get(token) or re.escape(token.lower()) for token in tokens]
    return re.compile("".join(pieces) + (_ISO_TIME if form == FORMS[0] else ""), re.ASCII)


def _date(parts: dict[str, str]) -> date | None:
    year = int(parts["year"]) if "year" in parts else 2000 + int(parts["short"])
    month = _month(parts["word"]) if "word" in parts else int(parts["month"])
    try:
        return date(year, month, int(parts["day"]))
    except ValueError:
        return None


def _month(word: str) -> int:
    """The number of a month by its English name or the first three letters; 0 for no month."""
    if word in _MONTHS:
        return _MONTHS.index(word) + 1
    return _NAMES.index(word) + 1 if word in _NAMES else 0
