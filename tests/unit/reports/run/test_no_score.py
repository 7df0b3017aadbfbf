"""The lines that say why records have no score."""

from __future__ import annotations

import msgspec

from steelyard.reports.run.no_score import no_score_lines, reason_texts
from steelyard.results.failures import Failure


def rows(*failures: tuple[str, str, int]) -> list[Failure]:
    known = {"index": 0, "record_id": None, "status": "timeout", "attempts": 1}
    return [
        msgspec.convert({**known, "label": label, "message": message}, Failure)
        for label, message, times in failures
        for _ in range(times)
    ]


def test_the_most_frequent_reasons_come_first_each_with_its_own_words() -> None:
    lines = no_score_lines(
        rows(
            ("timeout", "no answer within 60 s", 2),
            ("unauthorized", "HTTP 401: Incorrect API key", 49),
            ("unauthorized", "HTTP 401: another", 1),
        )
    )

    assert list(lines) == [
        "  no score   49 unauthorized: HTTP 401: Incorrect API key",
        "  no score   2 timeout: no answer within 60 s",
        "  no score   1 unauthorized: HTTP 401: another",
    ]


def test_messages_that_differ_in_numbers_alone_are_one_reason() -> None:
    wrong = ((f"records[{n}].input must be an object", 1) for n in range(4))
    lines = no_score_lines(rows(*(("invalid_field_type", text, times) for text, times in wrong)))

    assert list(lines) == ["  no score   4 invalid_field_type: records[N].input must be an object"]


def test_there_are_three_at_most_and_the_rest_is_named() -> None:
    lines = list(no_score_lines(rows(*((f"code{n}", "", 5 - n) for n in range(5)))))

    assert lines[:3] == ["  no score   5 code0", "  no score   4 code1", "  no score   3 code2"]
    assert lines[3:] == ["  no score   3 for other reasons: code3 (2), code4 (1)"]


def test_a_fourth_reason_is_a_line_like_the_others() -> None:
    lines = list(no_score_lines(rows(*((f"code{n}", "", 5 - n) for n in range(4)))))

    assert lines[3:] == ["  no score   2 code3"]


def test_a_long_message_is_cut_and_control_characters_are_shown() -> None:
    (line,) = no_score_lines(rows(("e", "\x1b[31m" + "x" * 500, 1)))

    assert len(line) < 130
    assert "\x1b" not in line


def test_nothing_is_said_where_nothing_failed() -> None:
    assert not list(no_score_lines([]))


def test_what_is_wrong_with_lines_of_a_file_is_shown_line_by_line() -> None:
    wrong = (f"Line {number}: missing expected_outcome" for number in (3, 5, 6, 9, 12))
    lines = no_score_lines(rows(*(("missing_required_field", text, 1) for text in wrong)))

    assert list(lines) == [
        "  no score   5 missing_required_field",
        "             Line 3: missing expected_outcome",
        "             Line 5: missing expected_outcome",
        "             Line 6: missing expected_outcome",
        "             and 2 more",
    ]


def test_a_reason_with_its_lines_is_one_text() -> None:
    wrong = ((f"Line {number}: no input", 1) for number in (3, 5))
    failures = rows(*(("invalid", *one) for one in wrong), ("timeout", "too late", 1))

    assert list(reason_texts(no_score_lines(failures))) == [
        "2 invalid: Line 3: no input; Line 5: no input",
        "1 timeout: too late",
    ]


def test_records_that_were_cut_off_are_one_reason_with_those_that_were_never_asked() -> None:
    sent = "the run was cancelled; the request may have been sent"
    given = rows(("cancelled", "the run was cancelled", 25), ("cancelled", sent, 3))
    unasked = [msgspec.structs.replace(row, attempts=0) for row in given]

    assert list(no_score_lines(unasked)) == [
        "  no score   28 cancelled: the run was cancelled; 25 never asked, 3 interrupted"
    ]
    assert list(no_score_lines(unasked[:25])) == [
        "  no score   25 cancelled: the run was cancelled"
    ]
