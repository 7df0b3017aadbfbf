"""A text is seen without its escapes, and every place of it leads back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.redaction.text import TextSpan, is_word, last_of, unescaped


@pytest.mark.parametrize(
    ("given_text", "seen"),
    [
        ("plain", "plain"),
        (r"a\u0040b", "a@b"),
        (r"a\\u0040b", "a@b"),
        (r"a\/b\nc\"d", 'a/b\nc"d'),
        ("C:\\old", "C:\\old"),
        ("\\u12", "\\u12"),
        ("\\", "\\"),
    ],
)
def test_escapes_are_read_however_deep(given_text: str, seen: str) -> None:
    assert unescaped(given_text).text == seen


@given(text=st.text(st.sampled_from('a@é号\n\t"/ 0'), max_size=30), data=st.data())
def test_every_part_leads_back_to_where_it_stands(text: str, data: st.DataObject) -> None:
    written = json.dumps(text)[1:-1]
    seen = unescaped(written)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    origin = seen.origin(TextSpan(start, end))

    assert seen.text == text
    assert json.loads(f'"{written[origin.start : origin.end]}"') == text[start:end]


@pytest.mark.parametrize(
    ("sign", "expected"),
    [("a", True), ("Z", True), ("5", True), ("_", True), ("é", False), ("-", False), ("", False)],
)
def test_a_word_is_ascii(sign: str, expected: bool) -> None:
    assert is_word(sign) is expected


def test_nothing_stands_before_the_start() -> None:
    assert [last_of("ab", place) for place in (-1, 0, 1, 2)] == ["", "", "a", "b"]
