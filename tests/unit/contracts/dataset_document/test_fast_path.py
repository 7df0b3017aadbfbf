"""A record that is accepted at a glance has nothing wrong with it on a close look."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.contracts.dataset_document.reader import DatasetDocumentReading
from steelyard.contracts.reading import Row
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.dataset_documents import RECORDS, VALUES, raw_document, record
from strategies.effort import examples

FIELDS = ("record_id", "input", "reference", "tags", "expected", "metadata", "Tags", "note")
ODD_TEXTS = ("", "\0", "\x7f", "\x85", "\b", "e\u0301", "\u2126", "\u0301", "\\u0000", "\\ud800")


ODD_VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.lists(st.sampled_from(ODD_TEXTS), max_size=34),
    st.just("x" * 9_000),
    VALUES,
)
CHANGES = st.tuples(st.sampled_from(FIELDS), st.sampled_from(FIELDS + ODD_TEXTS), ODD_VALUES)


def changed(value: JsonObject, changes: list[tuple[str, str, JsonValue]]) -> JsonObject:
    """A record with something set in one of its fields, or in itself."""
    for field, name, new in changes:
        part = value.get(field)
        (part if isinstance(part, dict) else value)[name] = new
    return value


ODD_RECORDS = st.builds(changed, RECORDS, st.lists(CHANGES, min_size=1, max_size=3))


def at_a_glance(raw: bytes, *, require_nfc: bool) -> Row:
    reading = DatasetDocumentReading(raw_document(raw), require_nfc=require_nfc)
    return next(reading.rows())._replace(content=b"")


def on_a_close_look(raw: bytes, *, require_nfc: bool) -> Row:
    reading = DatasetDocumentReading(raw_document(raw), require_nfc=require_nfc)
    return reading._checked(0, raw, None, SeenIds(), [])  # pyright: ignore[reportPrivateUsage]


@settings(max_examples=examples(300))
@given(RECORDS | ODD_RECORDS, st.booleans(), st.booleans())
@example(record(input={"prompt": "a\\u0007b"}), False, True)
@example(record(metadata={"note": "\u1d160" * 2_700}), False, False)
@example(record(metadata={"note": "\U0001d160" * 700}), False, False)
def test_both_ways_of_looking_at_a_record_agree(
    value: JsonObject, is_ascii: bool, require_nfc: bool
) -> None:
    raw = json.dumps(value, ensure_ascii=is_ascii).encode("utf-8")

    assert at_a_glance(raw, require_nfc=require_nfc) == on_a_close_look(
        raw, require_nfc=require_nfc
    )


@settings(max_examples=examples(300))
@given(RECORDS)
def test_a_good_record_has_no_findings_on_a_close_look(value: JsonObject) -> None:
    raw = json.dumps(value, ensure_ascii=False).encode("utf-8")
    row = on_a_close_look(raw, require_nfc=True)

    assert (row.value, row.findings) == (value, ())
