"""Records of a single file in short form."""

from __future__ import annotations

import json

import pytest

from steelyard.reports.html.short_records import (
    ShortRecord,
    ShortRecords,
    shortened_to,
    text_length,
)
from steelyard.reports.verdict_words import VerdictWord


@pytest.mark.parametrize("records", [0, 1, 5_000, 50_000, 10_000_000])
def test_a_file_stays_usable_whatever_the_number_of_records(records: int) -> None:
    assert 1 <= text_length(records) <= 1_000
    assert 3 * records * text_length(records) <= max(16_000_000, 3 * records)


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        (None, 5, ""),
        ("", 5, ""),
        ("a\n b", 5, "a b"),
        ("abcdef", 5, "abcd…"),
        ("abcde", 5, "abcde"),
        (" " * 90 + "x", 5, ""),
    ],
)
def test_a_text_is_shortened_to_its_beginning(text: str | None, most: int, short: str) -> None:
    assert shortened_to(text, most) == short


def test_data_are_what_the_script_of_the_file_reads() -> None:
    record = ShortRecord("r", (VerdictWord("fail", "Fail"),), "why?", (("Answer", "no"),))

    assert json.loads(ShortRecords(records=[record], most=9).data) == [
        ["r", [["fail", "Fail"]], "why?", [["Answer", "no"]]]
    ]
