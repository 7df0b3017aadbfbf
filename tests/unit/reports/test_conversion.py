"""The report of a conversion, as text and as JSON."""

from __future__ import annotations

import json

from steelyard.model.conversion import ChangedField, Conversion, UnwrittenRows
from steelyard.reports.conversion import conversion_json, conversion_text
from steelyard.reports.findings import plain

MADE = Conversion(
    source="in.jsonl",
    made_from="prbench",
    made_to="legal_eval",
    files=("out.jsonl",),
    read=1204,
    emitted=1200,
    unwritten=(
        UnwrittenRows(outcome="invalid", reason="no rubric", count=1, first=("line 3",)),
        UnwrittenRows(outcome="skipped", reason="again", count=2, first=("a", "b")),
        UnwrittenRows(outcome="left_out", reason="evil \x1b[31m", count=1, first=("c",)),
    ),
    fields=(
        ChangedField(
            field="choices", message="no place", is_lost=True, count=12, first=("a", "b", "c")
        ),
        ChangedField(field="dataset id", message="renamed", is_lost=False, count=1, first=()),
    ),
)


def test_the_text_says_counts_reasons_and_fields() -> None:
    assert list(conversion_text(MADE, plain)) == [
        "in.jsonl (prbench) to legal_eval: out.jsonl",
        "  1,204 read = 1,200 written + 1 invalid + 2 skipped + 1 left out",
        "  invalid   1 row: line 3: no rubric",
        "  skipped   2 rows: a, b: again",
        "  left out  1 row: c: evil ·[31m",
        "  lost      choices (12 cases: a, b, c, …): no place",
        "  moved     dataset id: renamed",
    ]


def test_the_json_holds_the_same() -> None:
    report = json.loads(conversion_json(MADE))

    assert {key: report[key] for key in ("source", "from", "to", "files")} == {
        "source": "in.jsonl",
        "from": "prbench",
        "to": "legal_eval",
        "files": ["out.jsonl"],
    }
    assert report["rows"] == {
        "read": 1204,
        "emitted": 1200,
        "invalid": 1,
        "skipped": 2,
        "left_out": 1,
    }
    assert report["unwritten"][0] == {
        "outcome": "invalid",
        "reason": "no rubric",
        "count": 1,
        "first": ["line 3"],
    }
    assert [(field["field"], field["outcome"]) for field in report["fields"]] == [
        ("choices", "lost"),
        ("dataset id", "moved"),
    ]


def test_a_conversion_is_whole_when_nothing_is_wrong_or_left_out() -> None:
    skipped = MADE.unwritten[1]
    whole = Conversion(
        source="a", made_from="b", made_to="c", read=3, emitted=1, unwritten=(skipped,)
    )

    assert (whole.is_whole, MADE.is_whole) == (True, False)
