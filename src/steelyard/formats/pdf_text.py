"""The text of a PDF; the library that reads it is loaded when the first PDF is met."""

from __future__ import annotations

import logging
from io import BytesIO

from steelyard.errors import ParseError
from steelyard.formats.encoding import without_surrogates

MAX_TEXT = 10 * 1024 * 1024
_MARK = b"%PDF-"
_LOCKED = {"FileNotDecryptedError", "WrongPasswordError"}
# Readers accept the mark anywhere near the beginning.
_MARK_WITHIN = 1024


def is_pdf(data: bytes) -> bool:
    """Whether bytes begin as a PDF does."""
    return _MARK in data[:_MARK_WITHIN]


def pdf_text(data: bytes) -> str:
    """The text of all pages, joined by blank lines; a PDF that cannot be read is a ParseError."""
    if not is_pdf(data):
        raise ParseError("not a PDF", code="unreadable_file")
    try:
        pages = _pages(data)
    except ParseError:
        raise
    except Exception as wrong:  # noqa: BLE001 - a damaged PDF can fail in any way
        is_locked = type(wrong).__name__ in _LOCKED
        reason = "locked by a password" if is_locked else "not a PDF that can be read"
        raise ParseError(reason, code="unreadable_file") from None
    return without_surrogates("\n\n".join(page for page in pages if page))


def _pages(data: bytes) -> list[str]:
    from pypdf import PdfReader  # noqa: PLC0415 - a tenth of a second that few files need

    # What it would log is said by the finding, or does not hinder reading.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pages: list[str] = []
    length = 0
    for page in PdfReader(BytesIO(data)).pages:
        text = page.extract_text().strip()
        length += len(text)
        if length > MAX_TEXT:
            raise ParseError("its text has more than 10 MB", code="record_too_large")
        pages.append(text)
    return pages
