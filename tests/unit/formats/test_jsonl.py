"""The lines of a JSONL stream."""

from __future__ import annotations

from io import BytesIO

import pytest

from steelyard.formats import jsonl
from steelyard.formats.jsonl import jsonl_lines


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n\n", []),
        (b"{}\n[]\n", [(1, b"{}"), (2, b"[]")]),
        (b"{}\r\n\r\n{}", [(1, b"{}"), (3, b"{}")]),
        (b"\xef\xbb\xbf{}\n", [(1, b"{}")]),
        (b"\xef\xbb\xbf\n{}", [(2, b"{}")]),
        (b"{}\n\xef\xbb\xbf{}", [(1, b"{}"), (2, b"\xef\xbb\xbf{}")]),
        ('" "\n\u3000\n'.encode(), [(1, b'" "')]),
        ('"a\u2028b"\n'.encode(), [(1, '"a\u2028b"'.encode())]),
        (b"a\rb\n", [(1, b"a\rb")]),
        (b"\xff\n", [(1, b"\xff")]),
    ],
)
def test_lines_that_are_not_blank_come_with_their_number(
    data: bytes, lines: list[tuple[int, bytes]]
) -> None:
    assert list(jsonl_lines(BytesIO(data))) == lines


def test_of_a_line_that_is_too_long_the_beginning_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 10)
    lengths = [10, 11, 12, 13, 30, 1]
    data = b"".join(b"x" * length + b"\n" for length in lengths)

    found = list(jsonl_lines(BytesIO(data)))
    assert [number for number, _ in found] == [1, 2, 3, 4, 5, 6]
    assert [min(len(text), 11) for _, text in found] == [10, 11, 11, 11, 11, 1]
