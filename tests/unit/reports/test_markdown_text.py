"""Text of models in Markdown: nothing in it is markup."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.reports.markdown_text import cut, escaped, fenced, html_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ask @octocat", "ask @\u2060octocat"),
        ("see #12", "see \\#\u206012"),
        ("https://evil.example", "https\u2060://evil.example"),
        ("WWW.evil.example", "WWW\u2060.evil.example"),
        ("a@b.example", "a@\u2060b.example"),
        ("$x$ **b** | <b>", r"\$x\$ \*\*b\*\* \| \<b\>"),
        ("one\n# two", r"one \# two"),
    ],
)
def test_a_line_has_no_markup_links_or_mentions(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_a_line_of_html_has_no_tags_or_mentions() -> None:
    assert html_line("</summary><script>@a") == "&lt;/summary&gt;&lt;script&gt;@\u2060a"


@given(st.text(alphabet="`~\n\r @<a", max_size=60))
def test_a_code_block_ends_at_its_own_fence_alone(text: str) -> None:
    first, *inner, last = fenced(text).split("\n")
    fence = first.removesuffix("text")

    assert last == fence
    assert re.fullmatch("`{3,}", fence)
    assert all(fence not in line for line in inner)


def test_a_long_text_is_cut_and_its_length_named() -> None:
    assert cut("x" * 1000, 10) == f"{'x' * 10} … (1,000 characters)"
    assert cut("\n" * 40).endswith("(40 characters)")
    assert cut("short\ttext") == "short   text"
