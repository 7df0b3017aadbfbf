"""Untrusted Markdown becomes HTML that can neither run nor load anything."""

from __future__ import annotations

import pytest

from steelyard.web.markdown import MAX_CHARACTERS, safe_markdown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**bold** and `code`", "<strong>bold</strong> and <code>code</code>"),
        ("| a |\n|---|\n| 1 |", "<td>1</td>"),
        ("[site](https://example.org)", 'href="https://example.org"'),
        ("~~old~~", "<s>old</s>"),
    ],
)
def test_markdown_is_formatted(text: str, shown: str) -> None:
    """Emphasis, code, tables and links are shown as such."""
    assert shown in safe_markdown(text)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        "![x](https://example.org/x.png)",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "<style>body{display:none}</style>",
        '<a href="x" style="position:fixed">x</a>',
        "<iframe src=https://example.org></iframe>",
        '<svg onload="alert(1)">',
        "`<b onclick=alert(1)>`",
    ],
)
def test_nothing_runs_or_loads(text: str) -> None:
    """Raw HTML stays text; images, scripts, styles and dangerous links are gone."""
    html = safe_markdown(text)
    for tag in (
        "<script",
        "<img",
        "<style",
        "<iframe",
        "<svg",
        "<b ",
        'href="javascript',
        'href="data',
    ):
        assert tag not in html
    assert "style=" not in html.replace("&quot;", "").split("<p>")[0]


def test_a_very_long_text_is_shown_as_it_is() -> None:
    """It is escaped, and not parsed."""
    html = safe_markdown("<b>" + "*" * MAX_CHARACTERS)
    assert html.startswith('<div class="read plain" dir="auto">&lt;b&gt;***')
