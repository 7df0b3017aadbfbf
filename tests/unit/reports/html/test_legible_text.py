"""Texts of models in pages: invisible characters are named, and endless words can break."""

from __future__ import annotations

import re
from html import escape, unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.reports.html.legible_text import legible

_TAG = re.compile(r"<[^>]*>")


def text_of(html: str) -> str:
    return unescape(_TAG.sub("", html))


@pytest.mark.parametrize(
    ("sign", "name"),
    [
        ("\u202e", "RLO"),
        ("\u2066", "LRI"),
        ("\u2069", "PDI"),
        ("\u200b", "ZWSP"),
        ("\u200f", "RLM"),
        ("\ufeff", "BOM"),
        ("\u00ad", "SHY"),
        ("\u200d", "ZWJ"),
        ("\U000e0041\U000e0042", "2 tags"),
    ],
)
def test_invisible_characters_have_their_name_before_them_and_stay(sign: str, name: str) -> None:
    html = legible(f"<p>pay{sign}ment</p>")

    assert f'<span class="unseen" data-name="{name}"' in html
    assert text_of(html) == f"pay{sign}ment"


@pytest.mark.parametrize(
    "text",
    [
        "plain text & more",
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "e\u0301 and a\u0308\u0301",
        "word " * 5_000,
        "\u6f22\u5b57" * 3_000,
    ],
    ids=["ascii", "emoji", "persian", "flag", "accents", "words", "chinese"],
)
def test_what_languages_and_emoji_need_is_left_alone(text: str) -> None:
    html = f"<p>{escape(text)}</p>"

    assert legible(html) == html


def test_a_word_without_end_may_break_every_few_letters_but_never_within_an_entity() -> None:
    text = '{"a":1,"b":"<&>"}' * 500

    html = legible(f"<pre>{escape(text)}</pre>")

    assert text_of(html) == text
    pieces = html.removeprefix("<pre>").removesuffix("</pre>").split("<wbr>")
    assert max(len(unescape(piece)) for piece in pieces) == 20
    assert all(unescape(piece).count("&") <= text.count("&") for piece in pieces)


def test_marks_piled_on_one_letter_are_parted() -> None:
    html = legible(f"<p>Z{chr(0x301) * 100}</p>")

    assert html.count("<wbr>") == 12
    assert text_of(html) == "Z" + "\u0301" * 100


@pytest.mark.parametrize(
    "html",
    [
        f'<input value="{"A" * 5_000}">',
        f'<td data-values="a > {"A" * 5_000}">b</td>',
        "<td title='\u202e'>b</td>",
        f"<textarea>{'A' * 5_000}\u202e</textarea>",
        f"<template data-short>{'A' * 5_000}\u202e</template>",
        f"<script>{'A' * 5_000}</script>",
        f"<title>{'A' * 5_000}</title>",
    ],
)
def test_attributes_fields_and_data_stay_as_they_are(html: str) -> None:
    assert legible(html) == html


@given(
    st.text(alphabet=st.sampled_from("a&<>\"' \u202e\u200d\u0301\u4e2d"), max_size=60),
    st.integers(1, 200),
)
def test_the_text_of_a_page_never_changes(part: str, times: int) -> None:
    text = part * times

    assert text_of(legible(f"<p>{escape(text)}</p>")) == text
