"""The sieve never lets pass what an exact look would find."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fakes.canaries import CANARIES, INNOCENT
from steelyard.engine.redaction.patterns import FINDERS
from steelyard.engine.redaction.redactor import json_bytes
from steelyard.engine.redaction.sieve import SECRETS, Sieve
from steelyard.engine.redaction.text import unescaped
from steelyard.settings import REDACTED_KINDS as KINDS
from strategies.effort import examples

SIEVE = Sieve(KINDS, [])
SIGNS = '0123456789+-(). /@u_abxyzABJ\\"\n\t:,\u00a0\u202f\u2011é号'
PIECES = st.one_of(
    st.sampled_from([text for texts in CANARIES.values() for text in texts]),
    st.sampled_from(INNOCENT),
    st.sampled_from(["sk-", "eyJ", "Bearer ", "00", "+49", "DE", "de", "4111", "%40", "\\u0040"]),
    st.sampled_from(
        ["a5265cac81c8", "judge/first@1.0.0", "\\n", "\\\\n", "\\u", "n+", "4111-1111-1111-1"]
    ),
    st.text(st.sampled_from(SIGNS), max_size=6),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Pieces of what is and what is not personal data, some of them damaged or escaped."""
    parts: list[str] = []
    for piece in draw(st.lists(PIECES, max_size=6)):
        text = piece
        if draw(st.booleans()) and text:
            place = draw(st.integers(0, len(text) - 1))
            text = text[:place] + draw(st.sampled_from(SIGNS)) + text[place + 1 :]
        if draw(st.integers(0, 5)) == 0:
            text = json.dumps(text, ensure_ascii=draw(st.booleans()))[1:-1]
        parts.append(text)
    return "".join(parts)


@settings(max_examples=examples(500))
@given(text=texts())
@example(text="卡号\\u53f74111111111111111")
@example(text="a\n4111 1111 1111 1111")
@example(text="030\\/1234567")
def test_whatever_an_exact_look_finds_was_held_back(text: str) -> None:
    seen = unescaped(text).text
    exact = {kind for kind, find in FINDERS.items() if any(find(seen))}

    for data in (
        json_bytes([text]),
        json.dumps({"a": text}).encode("ascii"),
        json_bytes([text]).replace(b"/", b"\\/"),
    ):
        assert exact <= set(SIEVE.signs(data))


ROW = {
    "index": 12,
    "record_id": "q_0012",
    "record_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "model_response": "Opening hours:\n1. Mon-Fri 9.30 to 17.00\n2. Sat 10-12; see § 4.2 (p. 7)\n",
    "score": 0.3333333333333333,
    "latency_ms": 123.45678901234567,
    "first_attempt_at": "2026-01-15T12:00:00.123+00:00",
    "last_attempt_at": "2026-09-05T09:08:07.060+00:00",
    "fingerprint": "15c87537ecc1339c2f6df4f7c1852d43806c0f3bd31847ac8c026fff9621eb51",
    "key": "verdict-04ba250c7f6db684e4b3d00059c62264",
    "judge": "judge/first@1.0.0",
    "message": '[[material 0793d018698a99d75d752d4db48e6c16]]\n{"score": 1}\n\nuse case-000123',
}


@pytest.mark.parametrize("name", ROW)
def test_what_steelyard_itself_writes_passes(name: str) -> None:
    """Or every row would have to be looked at closely."""
    assert SIEVE.signs(json_bytes({name: ROW[name], "next": "x"})) == []


@pytest.mark.parametrize("secret", ["password", "pass-word", "Password 1", "1234567890", "ü" * 8])
@pytest.mark.parametrize("kinds", [(), KINDS])
def test_a_secret_is_held_back_however_little_of_it_is_left(
    secret: str, kinds: tuple[str, ...]
) -> None:
    sieve = Sieve(kinds, [secret.encode()])

    assert SECRETS in sieve.signs(json_bytes([f"the {secret}!"]))
    assert sieve.signs(json_bytes(["nothing of it"])) == []


def test_with_nothing_to_look_for_everything_passes() -> None:
    assert Sieve((), ()).signs(b'["joe@example.com"]') == []
