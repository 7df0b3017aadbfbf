"""Small office files, as programs write them."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_DRAW = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)
_SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_LINKED = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_LINKS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'


def archive(parts: dict[str, str | bytes]) -> bytes:
    """Parts in a zip file."""
    stream = BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED) as made:
        for name, text in parts.items():
            made.writestr(name, text)
    return stream.getvalue()


def docx(body: str = "", notes: str = "") -> bytes:
    """A Word document with a body, and a text in a footnote."""
    body = body or paragraph("The loan is for three weeks.")
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f"<w:document {_WORD}><w:body>{body}</w:body></w:document>",
    }
    if notes:
        note = f"<w:footnote>{paragraph(notes)}</w:footnote>"
        parts["word/footnotes.xml"] = f"<w:footnotes {_WORD}>{note}</w:footnotes>"
    return archive(parts)


def paragraph(*runs: str) -> str:
    """A paragraph of several runs."""
    return f"<w:p>{''.join(f'<w:r><w:t>{run}</w:t></w:r>' for run in runs)}</w:p>"


def pptx(*slides: str) -> bytes:
    """A presentation with one text a slide."""
    return archive(
        {
            f"ppt/slides/slide{number}.xml": f"<p:sld {_DRAW}><a:p><a:r><a:t>{text}</a:t></a:r>"
            "</a:p></p:sld>"
            for number, text in enumerate(slides, 1)
        }
    )


def xlsx(rows: str, texts: tuple[str, ...] = (), book: str = "") -> bytes:
    """A workbook with one sheet; style 1 shows a number as a date."""
    shared = "".join(f"<si><t>{text}</t></si>" for text in texts)
    return archive(
        {
            "xl/workbook.xml": f"<workbook {_SHEET} {_LINKED}>{book}<sheets>"
            '<sheet name="Fees" sheetId="1" r:id="rId7"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f"<Relationships {_LINKS}>"
            '<Relationship Id="rId7" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/sharedStrings.xml": f"<sst {_SHEET}>{shared}</sst>",
            "xl/styles.xml": f'<styleSheet {_SHEET}><cellXfs><xf numFmtId="0"/>'
            '<xf numFmtId="14"/></cellXfs></styleSheet>',
            "xl/worksheets/sheet1.xml": f"<worksheet {_SHEET}><sheetData>{rows}</sheetData>"
            "</worksheet>",
        }
    )
