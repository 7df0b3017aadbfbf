"""The text of Word documents, workbooks and presentations (Office Open XML).

What a file unpacks to is bounded, and its XML may declare no entities.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from io import BytesIO
from typing import TYPE_CHECKING

from steelyard.errors import ParseError
from steelyard.formats.encoding import without_surrogates
from steelyard.formats.office_xml import Mark, marks

if TYPE_CHECKING:
    from zipfile import ZipFile


_BOOK = "xl/workbook.xml"
_LINKS = "xl/_rels/workbook.xml.rels"
_TEXTS = "xl/sharedStrings.xml"
_STYLES = "xl/styles.xml"
_COLUMN = re.compile(r"[A-Z]{1,3}")
_WIDEST = 16_384
_LARGEST = 10 * 1024 * 1024
_FIRST_DAY = datetime(1899, 12, 30)  # noqa: DTZ001 - sheets know no time zone
_LAST_DAY = 2_958_466
_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""The built-in formats that show a date or a time."""
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')

_Read = Callable[[str], bytes]

SUFFIXES = (".docx", ".xlsx", ".pptx")
MAX_UNPACKED = 64 * 1024 * 1024
MAX_TEXT = 10 * 1024 * 1024
_WORD = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_WORKBOOK = "xl/workbook.xml"
_SLIDE = re.compile(r"ppt/(?:slides/slide|notesSlides/notesSlide)(\d+)\.xml")
_BREAKS = {"br": "\n", "cr": "\n", "tab": "\t"}


def is_office(name: str) -> bool:
    """Whether a file is called like one of these."""
    return name.casefold().endswith(SUFFIXES)


def office_text(data: bytes) -> str:
    """The text of a file; one that cannot be read is a ParseError."""
    from zipfile import ZipFile  # noqa: PLC0415 - few files need it

    try:
        with ZipFile(BytesIO(data)) as archive:
            text = "\n\n".join(part for part in _parts(_Unpacking(archive)) if part)
    except ParseError:
        raise
    except Exception:  # noqa: BLE001 - a damaged archive can fail in any way
        message = "no Word document, workbook or presentation that can be read"
        raise ParseError(message, code="unreadable_file") from None
    if len(text) > MAX_TEXT:
        raise ParseError("its text has more than 10 MB", code="record_too_large")
    return without_surrogates(text)


class _Unpacking:
    """An archive whose parts are unpacked as long as they are not too large together."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._left = MAX_UNPACKED
        self.names = frozenset(archive.namelist())

    def read(self, name: str) -> bytes:
        with self._archive.open(name) as stream:
            data = stream.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise ParseError("it unpacks to more than 64 MB", code="record_too_large")
        return data


def _parts(files: _Unpacking) -> Iterator[str]:
    """The texts of a file, whichever of the three kinds it is."""
    slides = sorted(
        (int(found[1]), "notes" in name, name)
        for name in files.names
        if (found := _SLIDE.fullmatch(name))
    )
    if _WORKBOOK in files.names:
        yield from sheets(files.names, files.read)
    elif slides or _WORD[0] in files.names:
        for name in (*_WORD, *(name for _, _, name in slides)):
            if name in files.names:
                yield _paragraphs(files.read(name))
    else:
        raise ParseError("no Word document, workbook or presentation", code="unreadable_file")


def _paragraphs(data: bytes) -> str:
    """The paragraphs of a document or slide, one a line; cells of a row are set off by tabs."""
    texts: list[str] = []
    cells = 0
    for mark in marks(data):
        if mark.is_end and mark.name == "t":
            texts.append(mark.text)
        elif mark.name in _BREAKS and not mark.is_end:
            texts.append(_BREAKS[mark.name])
        elif mark.name == "tc":
            cells += -1 if mark.is_end else 1
            texts.append("\t" if mark.is_end else "")
        elif mark.is_end and mark.name in {"p", "tr"}:
            texts.append(" " if cells and mark.name == "p" else "\n")
    lines = (line.strip(" \t") for line in "".join(texts).split("\n"))
    return "\n".join(line for line in lines if line)


def sheets(names: Collection[str], read: _Read) -> Iterator[str]:
    """The sheets in the order of the workbook, each under its name."""
    texts = list(_shared(read(_TEXTS))) if _TEXTS in names else []
    dates = _date_styles(read(_STYLES)) if _STYLES in names else set[int]()
    places = dict(_links(read(_LINKS))) if _LINKS in names else {}
    book = read(_BOOK)
    if _counts_from_1904(book):
        dates = set[int]()  # such a number is better shown as it is than four years off
    for title, link in _listed(book):
        place = places.get(link, "")
        if place in names:
            yield "\n".join([f"# {title}", *_rows(read(place), texts, dates)])


def _listed(data: bytes) -> Iterator[tuple[str, str]]:
    for mark in marks(data):
        if mark.name == "sheet" and not mark.is_end:
            links = (value for name, value in mark.attributes.items() if name.endswith(" id"))
            yield mark.attributes.get("name", ""), next(links, "")


def _counts_from_1904(data: bytes) -> bool:
    return any(mark.attributes.get("date1904") in {"1", "true"} for mark in marks(data))


def _links(data: bytes) -> Iterator[tuple[str, str]]:
    for mark in marks(data):
        if mark.name == "Relationship" and not mark.is_end:
            target = mark.attributes.get("Target", "")
            place = target[1:] if target.startswith("/") else posixpath.join("xl", target)
            yield mark.attributes.get("Id", ""), posixpath.normpath(place)


def _shared(data: bytes) -> Iterator[str]:
    """The texts that cells name by their number; what is said how to pronounce is left out."""
    said: list[str] = []
    spoken = 0
    for mark in marks(data):
        if mark.name == "rPh":
            spoken += -1 if mark.is_end else 1
        elif mark.name == "t" and mark.is_end and not spoken:
            said.append(mark.text)
        elif mark.name == "si" and mark.is_end:
            yield "".join(said)
            said.clear()


def _date_styles(data: bytes) -> set[int]:
    """The styles, by their number, in which a number is shown as a date."""
    formats, found, is_inside, number = set(_DATES), set[int](), False, 0
    for mark in marks(data):
        if mark.name == "numFmt" and not mark.is_end:
            code = _QUOTED.sub("", mark.attributes.get("formatCode", ""))
            if re.search("[dmyhs]", code, re.IGNORECASE):
                formats.add(_int(mark.attributes.get("numFmtId")))
        elif mark.name == "cellXfs":
            is_inside = not mark.is_end
        elif mark.name == "xf" and not mark.is_end and is_inside:
            if _int(mark.attributes.get("numFmtId")) in formats:
                found.add(number)
            number += 1
    return found


def _rows(data: bytes, texts: list[str], dates: set[int]) -> Iterator[str]:
    row: dict[int, str] = {}
    cell, value, length = Mark("c", False, {}, ""), "", 0  # noqa: FBT003
    for mark in marks(data):
        if mark.name == "c" and not mark.is_end:
            cell, value = mark, ""
        elif mark.name in {"v", "t"} and mark.is_end:
            value += mark.text
        elif mark.name == "c":
            place = _column(cell.attributes.get("r", ""), len(row))
            row[place] = _shown(cell.attributes, value, texts, dates)
        elif mark.name == "row" and mark.is_end:
            line = _line(row)
            length += len(line)
            if length > _LARGEST:
                raise ParseError("its text has more than 10 MB", code="record_too_large")
            if line:
                yield line
            row = {}


def _line(row: dict[int, str]) -> str:
    filled = [place for place, value in row.items() if value]
    return "\t".join(row.get(place, "") for place in range(max(filled) + 1)) if filled else ""


def _column(reference: str, default: int) -> int:
    """The place of a cell in its row, from 0."""
    letters = _COLUMN.match(reference)
    if not letters:
        return default
    place = 0
    for letter in letters[0]:
        place = place * 26 + ord(letter) - ord("A") + 1
    return min(place, _WIDEST) - 1


def _shown(cell: dict[str, str], value: str, texts: list[str], dates: set[int]) -> str:
    kind = cell.get("t", "n")
    if kind == "s":
        place = _int(value)
        shown = texts[place] if 0 <= place < len(texts) else ""
    elif kind == "b":
        shown = "TRUE" if value == "1" else "FALSE"
    elif kind == "n" and value and _int(cell.get("s", "0")) in dates:
        shown = _date(value)
    else:
        shown = value
    return " ".join(shown.split())


def _date(value: str) -> str:
    """A number of days as the date that it stands for."""
    try:
        days = float(value)
    except ValueError:
        return value
    if not 1 <= days < _LAST_DAY:
        return value
    at = _FIRST_DAY + timedelta(seconds=round(days * 86_400))
    return at.date().isoformat() if days.is_integer() else at.isoformat(sep=" ")


def _int(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else -1
