"""Text that was made to be slow is read in no time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from bench.foreign_text import hostile_texts, readers, worst_growth

from steelyard.engine.redaction.redactor import Redactor, json_bytes
from steelyard.settings import REDACTED_KINDS as KINDS
from steelyard.store.globs import matches

QUICK_S = 2.0
"""Far more than linear time takes, and far less than anything worse."""
READERS = readers()


def taken(read: Callable[[], object]) -> float:
    begin = time.process_time()
    read()
    return time.process_time() - begin


def test_three_hundred_thousand_backslashes_are_redacted_in_no_time() -> None:
    data = json_bytes({"a": "\\" * 300_000 + " a@b.com"})

    assert taken(lambda: Redactor((), KINDS)(data)) < QUICK_S


def test_ten_thousand_fields_that_are_redacted_to_one_name_take_no_time() -> None:
    data = json_bytes({f"a{number}@b.com": number for number in range(10_000)})

    assert taken(lambda: Redactor((), KINDS)(data)) < QUICK_S


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    assert taken(lambda: matches("*a" * 30 + "*b", "a" * 5_000)) < QUICK_S


@pytest.mark.parametrize("what", READERS)
@pytest.mark.trials
def test_no_hostile_text_takes_more_than_its_share(what: str) -> None:
    texts = [(name, text) for name, text in hostile_texts() if len(name) < 5]

    for _name, text in texts:
        assert worst_growth(READERS[what], [("", text)], (8_000, 64_000))[1] < 2.8
