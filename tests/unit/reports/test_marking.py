"""Quotations within HTML."""

from __future__ import annotations

from markupsafe import Markup

from steelyard.reports.marking import Quotation, marked


def test_a_quotation_is_marked_where_it_stands() -> None:
    html = Markup("<p>It waits two full weeks for her &amp; him.</p>")
    said = marked(html, [Quotation("two full\n weeks", "fail")])
    assert said == '<p>It waits <mark class="fail">two full weeks</mark> for her &amp; him.</p>'


def test_tags_are_never_cut() -> None:
    html = Markup('<p><a href="https://example.org/here">somewhere</a></p>')
    assert marked(html, [Quotation("example.org/here"), Quotation('a href="')]) == html


def test_a_quotation_with_markup_marks_text_alone() -> None:
    html = Markup("<p>a &lt;script&gt; here</p>")
    assert "<mark" in marked(html, [Quotation("<script> here")])
    assert "<script>" not in marked(html, [Quotation("<script> here")])


def test_short_quotations_are_left_alone() -> None:
    html = Markup("<p>yes and yes</p>")
    assert marked(html, [Quotation("yes"), Quotation("")]) == html
