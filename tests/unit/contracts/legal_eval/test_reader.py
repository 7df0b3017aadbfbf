"""Lines to rows: what is counted, where it stands, what one bad line does."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Iterator
from io import BytesIO, RawIOBase

import pytest

from steelyard.contracts.legal_eval import reader
from steelyard.contracts.legal_eval.reader import LegalEvalJsonl
from steelyard.contracts.reading import Row
from steelyard.model.case import Place
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.legal_eval import OWN, case_of, found_in, jsonl, opened, row, rows_of, without


def codes(data: bytes) -> list[list[tuple[str, str]]]:
    return [[(found.code, found.path) for found in one.findings] for one in opened(data).rows()]


@pytest.mark.parametrize("task_type", OWN)
def test_a_good_row_has_no_finding(task_type: str) -> None:
    assert found_in(row(task_type)) == []


@pytest.mark.parametrize(
    ("data", "places"),
    [
        (jsonl(row()), [(0, 1)]),
        (jsonl(row()).rstrip(), [(0, 1)]),
        (b"\xef\xbb\xbf" + jsonl(row()), [(0, 1)]),
        (b"\n\r\n \t\n" + jsonl(row()) + b"\n" + jsonl(row(id="b")), [(0, 4), (1, 6)]),
        (jsonl(row()).replace(b"\n", b"\r\n") + jsonl(row(id="b")), [(0, 1), (1, 2)]),
        (jsonl(row(prompt="a\u2028b"), row(id="b", prompt="c\u0085d")), [(0, 1), (1, 2)]),
        (b"\xe2\x80\xa8\n" + jsonl(row()), [(0, 2)]),
        (b"", []),
    ],
)
def test_lines_that_are_not_blank_are_rows(data: bytes, places: list[tuple[int, int]]) -> None:
    """LE-01, LE-07"""
    rows = list(opened(data).rows())

    assert [(one.index, one.line) for one in rows] == places
    assert [one.findings for one in rows] == [()] * len(places)


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (b"{", "invalid_json", "invalid JSON: the text ends too early (column 2)"),
        (b"{'a': 1}", "invalid_json", "invalid JSON: object keys must be strings (column 2)"),
        (b'{"a": NaN}', "invalid_json", "invalid JSON: invalid character (column 7)"),
        (b'{"a": -Infinity}', "invalid_json", "invalid JSON: invalid character (column 8)"),
        (b"hello", "invalid_json", "invalid JSON: invalid character (column 1)"),
        (b"[" * 201 + b"]" * 201, "invalid_json", "invalid JSON: nested deeper than 200 levels"),
        (b'{"a": "\xff"}', "invalid_encoding", "not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_line_that_is_no_json_is_one_rejected_row(line: bytes, code: str, message: str) -> None:
    """LE-02, LE-03, LE-04, LE-06"""
    reading = opened(jsonl(row()) + b"\n" + line + b"\n" + jsonl(row(id="b")))
    first, bad, last = reading.rows()

    assert (first.findings, last.findings) == ((), ())
    assert bad.findings == (
        Finding(severity="error", code=code, message=message, line=3, index=1),
    )
    assert not reading.is_spoiled


@pytest.mark.parametrize("value", [[], "text", 5, None, True, [row()]])
def test_a_row_that_is_no_object_is_refused(value: JsonValue) -> None:
    """LE-05"""
    (one,) = rows_of(value)

    assert [(found.code, found.path) for found in one.findings] == [("invalid_field_type", "")]
    assert one.record_id is None


def test_half_a_surrogate_pair_is_an_error_of_its_field() -> None:
    """LE-04"""
    line = jsonl(row(prompt="a?b", metadata={"n": 1})).replace(b"a?b", b"a\\ud800b")

    assert codes(line) == [[("invalid_encoding", "prompt")]]


def test_a_number_that_nothing_can_hold_is_an_error_of_its_field() -> None:
    """LE-04"""
    line = jsonl(row("rubric_qa")).replace(b"-3.5", b"1e999")

    assert codes(line) == [[("value_out_of_range", "rubric[1].weight")]]


def test_escapes_and_a_nul_are_text() -> None:
    (one,) = opened(jsonl(row(prompt="?")).replace(b"?", b"\\u0000\\u00e4\\n")).rows()

    assert one.findings == ()


def test_a_line_that_is_too_long_is_one_rejected_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """LE-06"""
    monkeypatch.setattr(reader, "MAX_LINE", 400)
    edge = jsonl(row(id="a", prompt="x" * 50)).rstrip()
    exact = edge[:-1] + b" " * (400 - len(edge)) + b"}\n"
    long, good = jsonl(row(id="b", prompt="x" * 500)), jsonl(row(id="c"))

    assert codes(exact + long + good) == [[], [("record_too_large", "")], []]


def test_a_finding_says_where_it_is() -> None:
    """LE-07"""
    rows = opened(b"\n" + jsonl(row(), row(id="b", prompt=5))).rows()
    (finding,) = [found for one in rows for found in one.findings]

    assert finding == Finding(
        severity="error",
        code="invalid_field_type",
        message="prompt must be a string",
        path="prompt",
        line=3,
        index=1,
        record_id="b",
    )


def test_findings_come_in_the_order_of_their_paths() -> None:
    value = row("mcq", prompt=" ", metadata=1, zebra=1, choices=[{"id": "A"}, {"text": "x"}])
    (one,) = rows_of(value)

    assert [found.path for found in one.findings] == [
        "choices[0].text",
        "choices[1].id",
        "metadata",
        "prompt",
        "zebra",
    ]


@pytest.mark.parametrize(
    "earlier", [row(), row(prompt=""), row("mcq", correct_choice_ids=["X"])], ids=str
)
def test_an_id_of_an_earlier_row_is_refused(earlier: JsonObject) -> None:
    """LE-14"""
    _, other, again = rows_of(earlier, row(id="Q1"), row("mcq"))

    assert other.findings == ()
    assert [(found.code, found.path, found.message) for found in again.findings] == [
        ("duplicate_record_id", "id", "id 'q1' is used by an earlier row")
    ]


def test_a_duplicate_is_found_beside_other_errors() -> None:
    """LE-14"""
    _, again = rows_of(row(), without("prompt"))

    assert [found.code for found in again.findings] == [
        "duplicate_record_id",
        "missing_required_field",
    ]


def test_rows_may_be_read_twice() -> None:
    reading = opened(jsonl(row(), row(id="b")))

    assert list(reading.rows()) == list(reading.rows())


def test_a_case_knows_its_place() -> None:
    reading = LegalEvalJsonl(lambda: BytesIO(b"\n" + jsonl(row())), "data", file="/a/data.jsonl")
    (one,) = reading.rows()

    assert reading.case(one).place == Place(file="/a/data.jsonl", line=2, index=0)


def test_a_dataset_is_called_like_its_file() -> None:
    dataset = opened(b"").dataset((case_of(row()),))

    assert (dataset.id, dataset.contract, len(dataset.cases)) == ("data", "legal_eval", 1)


class EndlessRows(RawIOBase):
    """A file that is made while it is read."""

    def __init__(self, count: int) -> None:
        self._made = (jsonl(row(id=f"q{number}", context="x" * 2000)) for number in range(count))

    def readline(self, size: int | None = -1) -> bytes:  # noqa: ARG002
        return next(self._made, b"")


def peak_of(rows: Iterator[Row]) -> int:
    tracemalloc.start()
    for one in rows:
        assert not one.findings
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_file() -> None:
    """LE-08"""

    def peak(count: int) -> int:
        # The least of three: other threads of this process may allocate meanwhile.
        return min(
            peak_of(LegalEvalJsonl(lambda: EndlessRows(count), "data").rows())  # pyright: ignore[reportArgumentType]
            for _ in range(3)
        )

    assert peak(4000) - peak(500) < 200_000


def test_a_hash_is_over_the_row_and_the_text_of_its_documents() -> None:
    """LE-36"""
    value = row(attachments=[{"path": "documents/notes.md"}, {"path": "documents/photo.png"}])
    reading = opened(jsonl(value))
    (one,) = reading.rows()
    digest = hashlib.sha256(b"Notes\n").hexdigest()

    hashed = reading.hashed(one, reading.case(one))
    assert hashed == {**value, "files": {"documents/notes.md": digest}}


@pytest.mark.parametrize("wanted", [{0, 1, 2}, {1}, set[int]()])
def test_rows_that_are_read_again_are_the_same(wanted: set[int]) -> None:
    data = b"\n\r\n" + jsonl(row(id="a"), row(id="b", prompt="c\u2028d"), row(id="c"))
    reading = opened(data)
    first = {one.index: one._replace(content=b"") for one in reading.rows()}

    assert list(reading.reread(wanted.__contains__)) == [first[index] for index in sorted(wanted)]
