"""The work that one page may take is limited, whatever its texts say."""

from __future__ import annotations

from steelyard.reports.marking import Quotation, marked
from steelyard.reports.page_budget import Spendable, limited_page, page_budget
from steelyard.reports.texts import plain_text
from steelyard.reports.word_diff import word_diff
from steelyard.web.markdown import safe_markdown

HOSTILE = "[" * 10_000


def test_a_budget_is_spent_once() -> None:
    budget = Spendable(10)
    assert budget.spend(7)
    assert not budget.spend(7)
    assert budget.spend(3)
    assert not budget.spend(1)


def test_a_page_formats_so_much_and_shows_the_rest_as_it_is() -> None:
    with limited_page():
        formatted = ["read md" in safe_markdown(HOSTILE) for _ in range(40)]
        prose = safe_markdown("plain words of an answer " * 200)

    assert formatted == [True] * 4 + [False] * 36
    assert "read md" in prose, "words cost nothing"


def test_every_page_has_its_own_budget() -> None:
    for _ in range(2):
        with limited_page():
            assert "read md" in safe_markdown("*" * 40_000)
            assert "read plain" in safe_markdown("*a*")
    assert "read md" in safe_markdown("*a*"), "nothing is limited outside of pages"


def test_words_that_a_page_has_no_time_to_compare_count_as_changed() -> None:
    before, after = "one two three four", "five two six four"
    with limited_page():
        assert not word_diff(before, after).b[1].is_changed
        assert page_budget().word_pairs.spend(4_999_990)
        pieces = word_diff(before, after).b

    assert [piece.text for piece in pieces if piece.is_changed] == ["five two six"]


def test_quotations_are_looked_for_as_long_as_there_is_time() -> None:
    quotation = [Quotation("a long quotation")]
    html = plain_text("This is a long quotation of a text.")
    with limited_page():
        assert "<mark" in marked(html, quotation)
        assert page_budget().searched.spend(49_999_000)
        assert "<mark" not in marked(html * 100, quotation)
