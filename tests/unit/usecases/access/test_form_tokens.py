"""Form tokens as pages show them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.usecases.access.form_tokens import masked_token, unmasked_token

TOKEN = "q8Zk-3_tokenOfASession"


@given(st.binary(min_size=len(TOKEN), max_size=80))
def test_a_masked_token_is_read_back_and_shows_nothing_of_itself(pad: bytes) -> None:
    masked = masked_token(TOKEN, pad)

    assert unmasked_token(masked) == TOKEN
    assert TOKEN not in masked


def test_two_pads_give_two_texts_of_one_length() -> None:
    first, second = (masked_token(TOKEN, bytes([one]) * 40) for one in (1, 2))

    assert first != second
    assert len(first) == len(second)


@pytest.mark.parametrize("text", ["x", TOKEN, "m.x", "m.é", "m.AAAB", "m._wAA"])
def test_what_is_no_masked_token_stays_as_it_is(text: str) -> None:
    assert unmasked_token(text) == text


def test_a_short_pad_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        masked_token(TOKEN, b"x")
