"""What became of labels: read is imported and unchanged and refused."""

from __future__ import annotations

from dataclasses import replace

from steelyard.model.finding import Finding
from steelyard.reports.findings import plain
from steelyard.reports.judges.labels import ImportedLabels, imported_json, imported_lines

WRONG = Finding(severity="error", code="invalid_json", message="invalid JSON", line=3, index=2)
FOUND = ImportedLabels(
    path="l\x1b.jsonl",
    read=1_010,
    imported=1_000,
    same=7,
    replaced=2,
    findings=(WRONG,) * 3,
    redacted={"email": 4, "card": 1},
    renamed=1,
)


def text(found: ImportedLabels) -> str:
    return "\n".join(imported_lines(found, plain))


def test_the_sum_stands_with_all_that_is_wrong() -> None:
    wrong = "  l·.jsonl:3: error: invalid JSON [invalid_json]\n"

    assert text(FOUND) == wrong * 3 + (
        "l·.jsonl: 1,010 label(s) read = 1,000 imported + 7 unchanged + 3 refused\n"
        "  2 of the imported replace earlier labels (kept as history)\n"
        "  redacted before storing: card 1, email 4\n"
        "  1 annotator(s) stored as person-…: their names are personal data"
    )


def test_where_nothing_is_special_one_line_is_enough() -> None:
    quiet = replace(FOUND, read=7, imported=0, replaced=0, findings=(), redacted={}, renamed=0)

    assert text(quiet) == "l·.jsonl: 7 label(s) read = 0 imported + 7 unchanged + 0 refused"
    assert quiet.is_valid
    assert (quiet.contract, quiet.accepted, quiet.rejected) == ("labels", 7, 0)


def test_programs_get_everything() -> None:
    found = imported_json(FOUND)

    assert (found["read"], found["imported"], found["same"], found["refused"]) == (
        1010,
        1000,
        7,
        3,
    )
    assert (found["replaced"], found["renamed"]) == (2, 1)
    assert found["redacted"] == {"email": 4, "card": 1}
    assert len(FOUND.findings) == 3
    assert not FOUND.is_valid
