"""Letters in either case: one for one, beyond ASCII as well."""

from __future__ import annotations

import re

import pytest

from steelyard.formats.letter_case import in_either_case, letter_cases


@pytest.mark.parametrize(
    ("letter", "family"),
    [
        ("é", "Éé"),
        ("ß", "ßẞ"),
        ("Σ", "Σςσ"),
        ("ж", "Жж"),
        ("k", "Kk"),
        ("\u212a", "\u212a"),
        ("1", "1"),
        ("漢", "漢"),
        ("]", "]"),
    ],
)
def test_a_letter_has_those_that_differ_in_case_alone(letter: str, family: str) -> None:
    assert sorted(letter_cases(letter)) == sorted(family)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("été", "C'était l'ÉTÉ"),
        ("ГОРОД", "город"),
        ("ΟΔΟΣ", "οδος"),
        ("straße", "STRAẞE"),
        ("ü^-]\\", "Ü^-]\\"),
    ],
)
def test_a_text_is_found_whatever_the_case_of_its_letters(asked: str, text: str) -> None:
    assert re.search(in_either_case(asked), text)


def test_a_letter_without_its_accent_is_another() -> None:
    assert not re.search(in_either_case("été"), "ETE")
