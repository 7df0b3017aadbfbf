"""A comparison as one HTML file: the verdict first, both answers, and safe whatever they say."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

from steelyard.model.labels.votes import ResponseVotes
from steelyard.reports.comparison.comparison_view import pair_shares
from steelyard.reports.comparison.record_pair import record_pair
from steelyard.reports.html.comparison_html import PairPart, comparison_html, short_pair
from steelyard.reports.html.short_records import ShortRecords
from strategies.comparisons import CORRECTED, FOUND, NONE
from strategies.html_pages import HOSTILE, HtmlPage, require_closed
from strategies.run_views import prediction

SHARES = pair_shares(1, 2, 3, 4)


def part(text: str = "ten euros", votes: ResponseVotes | None = None) -> PairPart:
    asked = {"messages": [{"role": "user", "content": f"How much? {text}"}]}
    a, b = (
        prediction(
            0, record_id=text, passed=passed, reason=text, model_response=answer, request=asked
        )
        for passed, answer in ((True, f"It is {text}"), (False, "It is free"))
    )
    pairs = [record_pair([a], [b], -1.0, (votes, votes))]
    return PairPart("fail", "Worse in B", pairs, ShortRecords(records=(), most=1))


def test_the_verdict_is_said_in_words_with_both_differences() -> None:
    found = replace(FOUND, corrected=CORRECTED)
    text = HtmlPage(comparison_html(found, SHARES, [part()])).text

    assert "No difference detectable. Corrected by what people said, B is 5.7 points" in text
    assert "Corrected paired; 16 labels of A, 17 of B +5.7 -27.1 to +38.4" in text
    assert "Raw, judge only 100 pairs, test, p = 0.099 +10.0 -2.0 to +21.0" in text
    assert "20 points about 260 10 points about 1,100 5 points about 4,100" in text
    assert "1 worse in B 2 better in B 3 pass in both 4 fail in both" in text
    assert "How this was made" in text


def test_both_answers_are_shown_with_the_words_that_differ() -> None:
    html = comparison_html(FOUND, SHARES, [part()])

    assert "It is <del>ten euros</del>" in html
    assert "It is <ins>free</ins>" in html
    assert "not read" not in html
    assert "3 of 3 pass it" in comparison_html(FOUND, SHARES, [part(votes=ResponseVotes(3, 3))])


def test_the_page_escapes_what_users_wrote_and_loads_nothing() -> None:
    hostile = replace(
        FOUND,
        a=replace(FOUND.a, title=HOSTILE),
        slices=(replace(FOUND.slices[0], slice=HOSTILE, value=HOSTILE),),
    )
    page = HtmlPage(comparison_html(hostile, SHARES, [part(HOSTILE)], gate=HOSTILE))
    plain = HtmlPage(comparison_html(FOUND, SHARES, [part()], gate="gate passed"))

    require_closed(page)
    assert set(page.tags) <= set(plain.tags)
    assert {name for name, _ in page.attributes} <= {name for name, _ in plain.attributes}
    assert unescape(page.html).count(HOSTILE) >= 6


def test_without_pairs_there_are_no_numbers() -> None:
    bare = replace(FOUND, passes=NONE, scores=NONE, a=replace(FOUND.a, rate=None))
    text = HtmlPage(comparison_html(bare, (), ())).text

    assert "A and B cannot be compared. They have no record in common" in text
    assert "Ask both targets about the records of one dataset: steelyard run DATASET" in text
    assert "Pass rates of" not in text
    assert "Records Filter" not in text


def test_records_that_are_not_shown_whole_are_in_short_form() -> None:
    found = part()
    short = ShortRecords(records=[short_pair(found.pairs[0], 30)] * 2, most=30)
    text = HtmlPage(comparison_html(FOUND, SHARES, [found._replace(short=short)])).text

    assert "Worse in B, 3" in text
    assert "1 are shown whole. The other 2 are in this file too" in text
    assert "with up to 30 characters" in text


def test_a_failed_gate_is_loud() -> None:
    html = comparison_html(FOUND, SHARES, (), "gate failed: B is worse")

    assert '<p class="note bad">' in html
