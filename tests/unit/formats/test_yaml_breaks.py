from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.formats.yaml_breaks import hide_breaks, show_breaks

ODD = "\x85\u2028\u2029"


@pytest.mark.parametrize("text", ["", "plain\nlines\r\n", "grüße \u2027 \u202a \xc5"])
def test_text_without_odd_breaks_is_left_alone(text: str) -> None:
    assert hide_breaks(text.encode()) == (text.encode(), False)


@pytest.mark.parametrize("character", ODD)
def test_an_odd_break_is_hidden(character: str) -> None:
    hidden, is_hidden = hide_breaks(f"a{character}b\n".encode())

    assert is_hidden
    assert character not in hidden.decode()
    assert len(hidden.decode()) == 4


@pytest.mark.parametrize("taken", ["\ufdd0", "\ufdd2", '"\\ufdd1"', '"\\U0000FDD0"'])
def test_nothing_is_hidden_where_a_stand_in_may_be_meant(taken: str) -> None:
    data = f"{taken}\u2028".encode()

    assert hide_breaks(data) == (data, False)


@given(st.text(st.sampled_from(ODD + "ab\n")))
def test_showing_undoes_hiding(text: str) -> None:
    hidden, _ = hide_breaks(text.encode())

    assert show_breaks(hidden.decode()) == text
