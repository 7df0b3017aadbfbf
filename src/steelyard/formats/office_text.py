"""The text of Word documents, workbooks and presentations (Office Open XML).

What a file unpacks to is bounded, and its XML may declare no entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING

from steelyard.errors import ParseError
from steelyard.formats.encoding import without_surrogates
from steelyard.formats.office_xml import marks
from steelyard.formats.workbook_text import sheets

if TYPE_CHECKING:
    from zipfile import ZipFile

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
