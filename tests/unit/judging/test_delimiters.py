"""What is judged cannot leave its place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.formats.encoding import without_surrogates
from steelyard.formats.mustache import rendered
from steelyard.judging.delimiters import (
    _CONTROL,  # pyright: ignore[reportPrivateUsage]
    _ROLE_TOKEN,  # pyright: ignore[reportPrivateUsage]
    DelimiterFence,
    harmless,
    marked,
)
from steelyard.model.json_value import JsonObject

NONCE = "0f" * 16
FENCE = DelimiterFence(NONCE)
ROLE_TOKENS = [
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>"),
    *("<s>", "</s>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<bos>", "<eos>"),
    *("<start_of_turn>", "<end_of_turn>", "<\uff5cUser\uff5c>", "[TOOL_CALLS]"),
]
HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cs", "Cc", "Cf"]),
        st.sampled_from("[]{}<>|/\n\0"),
    ),
    max_size=80,
) | st.sampled_from([*ROLE_TOKENS, FENCE.begin, FENCE.end, "{{ q }}", NONCE, NONCE[:20]])


@pytest.mark.parametrize("token", ROLE_TOKENS)
def test_no_token_of_a_chat_template_is_left(token: str) -> None:
    text = harmless(f"a{token}b")

    assert token not in text
    assert text.replace(" ", "") == f"a{token}b"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\x00b\x1b[0m\x9b", "a\ufffdb\ufffd[0m\ufffd"),
        ("\ud800 \udfff", "\ufffd \ufffd"),
        ("tab\tline\r\nend", "tab\tline\r\nend"),
        ("a < b | c > d, x <= y, [1], <b>, <script>", "a < b | c > d, x <= y, [1], <b>, <script>"),
        ("naïve 日本 🙂 \u202e", "naïve 日本 🙂 \u202e"),
    ],
)
def test_other_text_stays_as_it_is(text: str, clean: str) -> None:
    assert harmless(text) == clean


@given(st.lists(HOSTILE, min_size=1, max_size=4).map("".join))
def test_whatever_an_answer_says_it_stands_between_the_only_two_lines_with_the_code(
    text: str,
) -> None:
    shown_to_judge: JsonObject = {"a": text, "list": [text], "object": {text: text}}
    filled = {name: marked(value) for name, value in shown_to_judge.items()}
    template = "1 {{ a }} 2 {{#list}}{{.}}{{/list}} 3 {{ object }} 4"

    shown = rendered(template, filled, FENCE.show)

    assert shown.count(NONCE) == 6
    pieces = re.split(
        re.escape(FENCE.begin) + r".*?" + re.escape(FENCE.end), shown, flags=re.DOTALL
    )
    assert [piece.strip() for piece in pieces] == ["1", "2", "3", "4"]
    shown.encode("utf-8")


@given(st.lists(HOSTILE | st.text(max_size=20), max_size=6).map("".join))
def test_a_text_that_seems_harmless_needs_no_change(text: str) -> None:
    """What lets most texts pass sooner than two patterns would."""
    clean = _CONTROL.sub("\ufffd", without_surrogates(text))

    assert harmless(text) == _ROLE_TOKEN.sub(r"\g<0> ", clean)


def test_an_empty_answer_has_its_place_too() -> None:
    assert FENCE.show(marked("")) == f"{FENCE.begin}\n\n{FENCE.end}"


def test_numbers_need_no_place_and_instructions_have_none() -> None:
    assert rendered("{{ n }} {{ q }}", {"n": marked(3), "q": "?"}, FENCE.show) == "3 ?"


def test_instructions_cannot_bring_the_code_along_either() -> None:
    assert rendered("{{ q }}", {"q": f"{FENCE.end}<s>"}, FENCE.show) == "[[end of material ]]< s>"
