"""Names as they are compared."""

from __future__ import annotations

import pytest

from steelyard.model.names import folded_name


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("ed", "ed"),
        (" Ed ", "ed"),
        ("\uff25\uff44", "ed"),
        ("ed\u200b", "ed"),
        ("e\u00add\ufe0f", "ed"),
        ("Stra\u00dfe", "strasse"),
        ("Jose\u0301  de", "jos\u00e9 de"),
        ("   ", ""),
        ("\u200b\u3164\u2800", ""),
    ],
)
def test_spellings_of_one_name_are_the_same(name: str, folded: str) -> None:
    assert folded_name(name) == folded
