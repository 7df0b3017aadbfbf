"""The text of a PDF."""

from __future__ import annotations

import logging
import subprocess
import sys
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from steelyard.errors import ParseError
from steelyard.formats import pdf_text as module
from steelyard.formats.pdf_text import is_pdf, pdf_text
from strategies.effort import examples
from strategies.legal_eval import pdf

RENT = pdf("The rent is due.")


def pages(*texts: str, password: str | None = None) -> bytes:
    writer = PdfWriter()
    for text in texts:
        writer.append(PdfReader(BytesIO(pdf(text))))
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    stream = BytesIO()
    writer.write(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (RENT, "The rent is due."),
        (b"\n" * 1000 + RENT, "The rent is due."),
        (pdf(""), ""),
        (pages("One", "", "Two"), "One\n\nTwo"),
    ],
)
def test_the_text_of_all_pages_is_read(data: bytes, text: str) -> None:
    assert is_pdf(data)
    assert pdf_text(data) == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a PDF"),
        (b"text", "not a PDF"),
        (b"\n" * 1024 + RENT, "not a PDF"),
        (b"%PDF-1.4\nbroken", "not a PDF that can be read"),
        (RENT[:150], "not a PDF that can be read"),
        (pages("One", password="secret"), "locked by a password"),
    ],
)
def test_what_cannot_be_read_is_an_error(data: bytes, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        pdf_text(data)

    assert (str(caught.value), caught.value.code) == (message, "unreadable_file")


@pytest.mark.parametrize(("limit", "is_read"), [(6, True), (5, False)])
def test_a_text_has_a_largest_size(
    monkeypatch: pytest.MonkeyPatch, limit: int, is_read: bool
) -> None:
    monkeypatch.setattr(module, "MAX_TEXT", limit)
    data = pages("One", "Two")

    if is_read:
        assert pdf_text(data) == "One\n\nTwo"
    else:
        with pytest.raises(ParseError, match="more than 10 MB") as caught:
            pdf_text(data)
        assert caught.value.code == "record_too_large"


@given(st.integers(9, len(RENT)), st.binary(max_size=6), st.integers(0, 30))
@settings(max_examples=examples(150))
def test_a_damaged_pdf_gives_a_text_or_an_error(place: int, middle: bytes, cut: int) -> None:
    data = RENT[:place] + middle + RENT[place + cut :]
    with suppress(ParseError):
        assert pdf_text(data).encode("utf-8") is not None


def test_the_reader_says_nothing_on_its_own(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(ParseError):
        pdf_text(RENT[:300])

    assert caplog.records == []


def test_the_library_is_loaded_for_pdfs_alone() -> None:
    code = "import sys, steelyard.store.project; print('pypdf' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "False\n"
