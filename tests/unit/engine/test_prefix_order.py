"""Concurrent calls are about different documents, and each document is asked about in turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from steelyard.engine.prefix_order import ALIKE, WINDOW, by_prefix
from steelyard.engine.record_work import Work
from steelyard.model.case import Case
from steelyard.model.rubric import Rubric
from steelyard.model.run import PlannedRecord, Result
from steelyard.ports import Prompt

RUBRIC = Rubric(id="loans", version="1.0.0", checks=())


def work(name: str, document: str = "") -> Work:
    text = f"{document * ALIKE}{name}"
    return Work(
        record=PlannedRecord(index=0, record_id=name),
        case=Case(id=name),
        prompt=Prompt((("user", text),), text),
        rubric=RUBRIC,
    )


def order(*items: Work | Result, concurrency: int = 1) -> str:
    return names(by_prefix(iter(items), concurrency))


def names(items: Iterator[Work | Result]) -> str:
    return " ".join(
        item.record.record_id or "" if isinstance(item, Work) else item.record_id or ""
        for item in items
    )


def test_questions_about_one_document_come_together_in_the_order_of_the_dataset() -> None:
    asked = work("a1", "a"), work("b1", "b"), work("a2", "a"), work("b2", "b"), work("a3", "a")

    assert order(*asked) == "a1 a2 a3 b1 b2"


def test_concurrent_calls_are_about_different_documents() -> None:
    asked = [work(f"{document}{number}", document) for document in "abc" for number in (1, 2, 3)]

    assert order(*asked, concurrency=2) == "a1 b1 a2 b2 a3 b3 c1 c2 c3"
    assert order(*asked, concurrency=64) == "a1 b1 c1 a2 b2 c2 a3 b3 c3"


def test_short_prompts_stay_where_they_are() -> None:
    assert order(work("1", ""), work("2", ""), work("1 again", "")) == "1 2 1 again"


def test_what_is_no_call_is_passed_on() -> None:
    done = Result(index=1, record_id="done", status="skipped")

    assert order(work("a1", "a"), done, work("a2", "a")) == "a1 a2 done"
    assert order(done, work("a1", "a")) == "done a1"


def test_no_record_waits_for_more_than_a_window() -> None:
    far = [work(f"b{number}", "b") for number in range(WINDOW)]

    assert order(work("a1", "a"), *far, work("a2", "a")).endswith(f"b{WINDOW - 1} a2")


def test_what_comes_before_an_error_is_asked_before_it_is_raised() -> None:
    def broken() -> Iterator[Work]:
        yield work("a1", "a")
        yield work("b1", "b")
        raise OSError("gone")

    items = by_prefix(broken(), 1)

    assert names(iter([next(items), next(items)])) == "a1 b1"
    with pytest.raises(OSError, match="gone"):
        next(items)
