"""What is made of JSON that the fast parser refuses."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.dataset_document.second_look import look_again, masked, trimmed
from steelyard.formats.json_text import depth, parse_json


@given(st.text(st.characters()))
def test_a_masked_string_can_be_read_and_unmasked(text: str) -> None:
    data = json.dumps(text).encode("ascii")
    mask = masked(data)
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    assert isinstance(parse_json(mask.data), str)
    assert look_again(mask.unmasked(mask.data)).value == clean


def test_a_raw_control_character_becomes_its_escape() -> None:
    assert masked(b'"\x00\x1f\t\x7f"').data == b'"\\u0000\\u001f\t\x7f"'


def test_a_control_character_after_a_lone_backslash_stays_broken() -> None:
    assert masked(b'"\\\x00"').data == b'"\\\x00"'


@pytest.mark.parametrize(
    "used",
    [b"\\ue000", "\ue000".encode(), b"".join(b"\\u%04x" % code for code in range(0xE000, 0xE400))],
    ids=["escaped", "raw", "many"],
)
def test_a_stand_in_is_a_character_that_the_document_does_not_have(used: bytes) -> None:
    mask = masked(b'"' + used + b'\\ud800"')

    assert mask.stand_in not in used
    assert mask.unmasked(mask.data) == b'"' + used + b'\\ud800"'


def test_a_document_with_every_stand_in_still_shows_that_it_has_a_bad_character() -> None:
    used = b"".join(b"\\u%04x" % code for code in range(0xE000, 0xF900))

    assert masked(b'"' + used + b'\\ud800"').stand_in == b"\\u0000"


@pytest.mark.parametrize("levels", [203, 204, 205, 1000])
def test_a_trimmed_document_keeps_one_level_too_many_and_all_lines(levels: int) -> None:
    data = b'{"text": "]]]\\"[", "nest":\n' + b"[\n" * (levels - 1) + b"]" * (levels - 1) + b"}"
    short = trimmed(data)

    assert depth(json.loads(short)) == 203
    assert short.count(b"\n") == data.count(b"\n")
    assert len(short) == len(data)


def test_a_nest_that_is_too_deep_is_read_as_far_as_it_goes() -> None:
    look = look_again(b'{"id": "a", "nest": [1, ' + b"[" * 300 + b"]" * 300 + b", 2]}")

    assert isinstance(look.value, dict)
    assert look.value["id"] == "a"
    assert depth(look.value) == 200
    assert [problem.message for problem in look.problems] == [
        "{} is nested deeper than 200 levels"
    ]
