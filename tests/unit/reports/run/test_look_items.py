"""What to look at: the provider's words, attempts, reasons, and links to the records."""

from __future__ import annotations

import re

import pytest

from steelyard.reports.html.pages import environment
from steelyard.reports.run.look_items import (
    LookExample,
    LookItem,
    check_item,
    failure_item,
    people_item,
    said,
    shortened,
    split_item,
)
from steelyard.results.attempts import Attempt
from steelyard.results.failures import Failure


def failure(index: int, message: str | None, attempts: int = 3) -> Failure:
    return Failure(
        index=index,
        record_id=f"q{index}",
        status="timeout",
        label="timeout",
        message=message,
        attempts=attempts,
    )


def attempt(number: int, second: int, retry_in_s: float | None) -> Attempt:
    return Attempt(
        index=0,
        record_id="q0",
        target="t",
        attempt=number,
        at=f"2026-11-15T21:31:{second:02}.300+00:00",
        error_code="timeout",
        retry_in_s=retry_in_s,
    )


def example(index: int, text: str) -> LookExample:
    return LookExample(index=index, repeat=0, name=f"q{index}", text=text)


def test_a_failure_has_the_words_of_the_provider_and_its_attempts() -> None:
    item = failure_item("timeout", 1, [failure(0, "recorded failure: timeout")])

    assert item.title == "No score: timeout"
    assert item.words == ("“recorded failure: timeout”; 3 attempts. Not counted as 0.")


@pytest.mark.parametrize(
    ("tries", "number", "said"),
    [
        ([0, 0], 2, "never asked"),
        ([1, 0], 2, "0 to 1 attempts each"),
        ([1, 1], 500, "1 attempt each of the first 2"),
    ],
)
def test_records_that_were_never_asked_have_no_attempt(
    tries: list[int], number: int, said: str
) -> None:
    failures = [failure(place, "cancelled", many) for place, many in enumerate(tries)]
    item = failure_item("cancelled", number, failures)

    assert item.words == f"“cancelled”; {said}. Not counted as 0."


def test_records_that_were_cut_off_are_not_said_to_be_never_asked() -> None:
    sent = "the run was cancelled; the request may have been sent"
    messages = [sent, *["the run was cancelled"] * 3, sent]
    failures = [failure(place, text, 0) for place, text in enumerate(messages)]

    item = failure_item("cancelled", 5, failures)
    alone = failure_item("cancelled", 1, failures[:1])

    assert item.words == (
        "“the run was cancelled”; 3 never asked, 2 interrupted. Not counted as 0."
    )
    assert alone.words == "“the run was cancelled”; 1 interrupted. Not counted as 0."


def test_attempts_of_several_records_are_a_range() -> None:
    item = failure_item("busy", 2, [failure(0, "wait 5 s", 2), failure(1, "wait 9 s", 4)])

    assert item.words == "“wait 5 s” and 1 like it; 2 to 4 attempts each. Not counted as 0."


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (["no", "no"], "“no”"),
        (["a 1", "a 2", "b"], "“a 1” and 1 like it and 1 other message"),
        ([None], "No message"),
    ],
)
def test_messages_that_differ_in_numbers_are_alike(
    messages: list[str | None], expected: str
) -> None:
    assert said([failure(place, text) for place, text in enumerate(messages)]) == expected


def test_a_check_shows_its_first_reason_and_how_many_more() -> None:
    item = check_item("kind", 3, [example(4, "too harsh"), example(7, "rude")])

    assert (item.title, item.words) == ("Not passed: kind", "“too harsh” and 2 more")


def test_a_check_without_weight_says_that_it_decides_nothing() -> None:
    item = check_item("panel", 1, [example(4, "1 of 2")], is_deciding=False)

    assert item.words == "It has no weight in the verdict. “1 of 2”"


def test_texts_are_one_short_line() -> None:
    assert shortened("a\nb") == "a b"
    assert len(shortened("x" * 500)) == 160


def _list(item: LookItem) -> str:
    return f"/list/{item.kind}"


def _record(index: int, repeat: int) -> str:
    return f"/records/{index}/{repeat}"


def test_records_without_attempts_have_a_row_of_the_same_shape() -> None:
    failures = [failure(0, "late"), failure(1, "never asked", 0)]
    item = failure_item("timeout", 2, failures, [[attempt(1, 41, None)], []])
    source = '{% from "parts/run.html" import look_list %}{{ look_list(items) }}'

    html = environment().from_string(source).render(items=[item])

    rows = re.findall(r"<tr>.*?</tr>", html.partition("<tbody>")[2], re.DOTALL)
    assert [len(re.findall("<t[hd]", row)) for row in rows] == [5, 5]
    assert "colspan" not in html
    assert re.search(r'none</span></td><td data-values="[^"]*">never asked</td>', rows[1])


def test_the_list_links_records_and_draws_attempts() -> None:
    made = [attempt(1, 41, 0.5), attempt(2, 42, None)]
    items = (
        failure_item("timeout", 1, [failure(0, "late")], [made]),
        check_item("kind", 2, [example(4, "<b>rude</b>")]),
        split_item(1, [example(5, "1 of 2")]),
        people_item(1, 16, 0, [example(6, "")]),
    )
    source = '{% from "parts/run.html" import look_list %}{{ look_list(items, list_, record) }}'

    html = environment().from_string(source).render(items=items, list_=_list, record=_record)

    assert html.count("<details") == 4
    assert html.index("No score: timeout") < html.index("Not passed: kind")
    assert "timeout, given up" in html
    assert "21:31:41.3 to 21:31:42.3" in html
    assert "Attempt 2 1,000 ms after the first" in html
    assert 'href="/list/check">Show all 2 among the records' in html
    assert 'href="/records/4/0"' in html
    assert "&lt;b&gt;rude" in html
    assert "Of 16 answers that people have read; they pass 0 of these." in html
