"""Text comparison that several kinds share."""

from __future__ import annotations

import pytest

from steelyard.checks.text import clip, fold


@pytest.mark.parametrize(
    ("left", "right"),
    [("Paris", "PARIS"), ("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ﬁne", "FINE")],
)
def test_texts_are_folded_by_unicode_rules(left: str, right: str) -> None:
    assert fold(left, ignore_case=True) == fold(right, ignore_case=True)
    assert fold(left, ignore_case=False) != fold(right, ignore_case=False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("short", "short"),
        ("  two\n\tlines  ", "two lines"),
        ("a" * 60, "a" * 60),
        ("a" * 61, "a" * 59 + "…"),
        ("", ""),
    ],
)
def test_a_reason_quotes_one_short_line(text: str, shown: str) -> None:
    assert clip(text) == shown
