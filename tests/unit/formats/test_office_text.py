"""Word documents, workbooks and presentations as text, hostile ones among them."""

from __future__ import annotations

import pytest

from fakes.office_files import archive, docx, paragraph, pptx, xlsx
from steelyard.errors import ParseError
from steelyard.formats.office_text import MAX_UNPACKED, office_text


def test_a_word_document_is_its_paragraphs_and_notes() -> None:
    table = "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>".format(
        paragraph("Fee"), paragraph("9 EUR")
    )
    deleted = "<w:p><w:r><w:delText>gone</w:delText></w:r></w:p>"
    body = paragraph("The ", "loan") + deleted + table + paragraph("a &lt; b")

    assert office_text(docx(body, "See § 5.")) == "The loan\nFee \t9 EUR\na < b\n\nSee § 5."


def test_a_presentation_is_its_slides_in_order() -> None:
    slides = [f"slide {number}" for number in range(1, 12)]

    assert office_text(pptx(*slides)).split("\n\n") == slides


def test_a_workbook_is_its_rows() -> None:
    rows = (
        '<row><c r="A1" t="s"><v>0</v></c>'
        '<c r="C1" t="inlineStr"><is><t>in line</t></is></c></row>'
        '<row><c r="A2" s="1"><v>45000</v></c><c r="B2"><v>45000</v></c></row>'
        '<row><c r="A3" t="b"><v>1</v></c></row><row/>'
    )

    said = office_text(xlsx(rows, ("first\ntext",)))

    assert said.splitlines() == ["# Fees", "first text\t\tin line", "2023-03-15\t45000", "TRUE"]


def test_dates_that_count_from_1904_stay_numbers() -> None:
    rows = '<row><c r="A1" s="1"><v>45000</v></c></row>'

    assert "45000" in office_text(xlsx(rows, book='<workbookPr date1904="1"/>'))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"no archive", "unreadable_file"),
        (archive({"readme.txt": "nothing"}), "unreadable_file"),
        (docx()[:-40], "unreadable_file"),
        (docx("<w:p>"), "unreadable_file"),
        (
            archive(
                {"word/document.xml": '<!DOCTYPE x [<!ENTITY a SYSTEM "/etc/passwd">]><x>&a;</x>'}
            ),
            "unreadable_file",
        ),
        (archive({"word/document.xml": "<x>" * 2000}), "unreadable_file"),
        (archive({"word/document.xml": b" " * (MAX_UNPACKED + 1)}), "record_too_large"),
    ],
    ids=["no-zip", "other-zip", "cut-off", "broken", "entities", "deep", "bomb"],
)
def test_what_cannot_be_read_says_so(data: bytes, code: str) -> None:
    with pytest.raises(ParseError) as refused:
        office_text(data)

    assert refused.value.code == code
