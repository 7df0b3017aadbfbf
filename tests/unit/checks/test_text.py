"""Text comparison that several kinds share."""

from __future__ import annotations

import pytest

from steelyard.checks.text import Phrase, clip, fold


@pytest.mark.parametrize(
    ("left", "right"),
    [("Paris", "PARIS"), ("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ﬁne", "FINE")],
)
def test_texts_are_folded_by_unicode_rules(left: str, right: str) -> None:
    assert fold(left, ignore_case=True) == fold(right, ignore_case=True)
    assert fold(left, ignore_case=False) != fold(right, ignore_case=False)


@pytest.mark.parametrize("ignore_case", [True, False])
@pytest.mark.parametrize(
    ("left", "right"),
    [("cafe\u0301", "caf\xe9"), ("\u1fb3\u0301", "\u1fb4"), ("A\u030a", "\u212b")],
)
def test_characters_and_their_marks_are_put_together(
    left: str, right: str, ignore_case: bool
) -> None:
    assert fold(left, ignore_case=ignore_case) == fold(right, ignore_case=ignore_case)


@pytest.mark.parametrize(
    ("phrase", "text", "is_there"),
    [
        ("I'm", "I\u2019m", True),
        ("I\u2019m", "I'm", False),
        ("I\u2019m", "I\u2019m", True),
        ('a "b"', "a \u201cb\u201d", True),
        ("\u201cb\u201d", '"b"', False),
        ("x-y", "x\u2011y", True),
        ("x - y", "x \u2014 y", True),
        ("x\u2014y", "x-y", False),
        ("it's \u201cit\u201d", "it\u2019s \u201cit\u201d", True),
        ("it's \u201cit\u201d", 'it\u2019s "it"', False),
        ("a.c-d", "abc-d", False),
        ("x", "", False),
    ],
)
def test_a_phrase_written_in_ascii_stands_for_typography_and_not_the_other_way(
    phrase: str, text: str, is_there: bool
) -> None:
    wanted = Phrase(phrase, ignore_case=True)
    given = fold(text, ignore_case=True)

    assert wanted.is_in(f"before {given} after") is is_there
    assert wanted.begins(f"{given} after") is is_there
    assert wanted.ends(f"before {given}") is is_there


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("short", "short"),
        ("  two\n\tlines  ", "two lines"),
        ("a" * 60, "a" * 60),
        ("a b" * 30, ("a b" * 30)[:59] + "…"),
        ("a" * 61, "aaaaaaaa…"),
        (f"{'is ' * 15}key-abcdefghijklmnop", f"{'is ' * 15}key-abcd…"),
        (f"{'is ' * 15}4111 1111 1111 1111", f"{'is ' * 15}4111 111…"),
        (f"{'is ' * 19}so 4111", f"{'is ' * 19}so…"),
        ("", ""),
    ],
)
def test_a_reason_quotes_one_short_line(text: str, shown: str) -> None:
    assert clip(text) == shown
