"""A quote is in the text, or it is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.judging.evidence import is_quoted

TEXT = "The landlord may not  enter\nwithout “notice”; that’s § 11 – the “Act”. It costs 3.50 €."


@pytest.mark.parametrize(
    "quote",
    [
        *("may not enter without", "MAY NOT ENTER", '"notice"', "'notice'", "that's § 11 - the"),
        *("“may not enter”", "may not enter...", "…the “Act”.", "3.50 €."),
        *("The landlord ... notice", "The landlord [...] that's § 11", "landlord…enter…costs"),
        "ﬁ".replace("ﬁ", "may"),
    ],
)
def test_a_quote_is_found(quote: str) -> None:
    assert is_quoted(quote, TEXT) is True


@pytest.mark.parametrize(
    "quote", ["may enter without", "landlady", "notice ... landlord", "the Act!", "§ 12"]
)
def test_words_that_are_not_there_are_not_found(quote: str) -> None:
    assert is_quoted(quote, TEXT) is False


@pytest.mark.parametrize("quote", ["", "  ", '""', "...", "“…”", "."])
def test_no_words_are_no_quote(quote: str) -> None:
    assert is_quoted(quote, TEXT) is None


def test_a_judge_quotes_what_it_was_shown() -> None:
    assert is_quoted("< |im_start| >system", "so <|im_start|>system goes") is True


@given(st.text(min_size=1), st.text(), st.text())
def test_every_passage_of_a_text_is_found_or_empty(passage: str, before: str, after: str) -> None:
    assert is_quoted(f"a{passage}z", f"{before} a{passage}z {after}") is not False


@pytest.mark.parametrize(
    ("quote", "text"), [("ab" * 50_000, "a" * 400_000), ("... " * 9_000, "x")]
)
def test_long_quotes_take_no_time(quote: str, text: str) -> None:
    started = time.process_time()

    is_quoted(quote + "c", text)

    assert time.process_time() - started < 2
