"""Word differences: complete, in order, safe as HTML, and linear in the length of the texts."""

from __future__ import annotations

import math
import random
import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.reports import word_diff as module
from steelyard.reports.word_diff import (
    TextPiece,
    WordDiff,
    marked,
    only_changes,
    word_diff,
)

HOSTILE = '</del><script>alert("1")</script> <img src=x onerror=alert(1)> {{ 7 * 7 }}'


def changed(pieces: tuple[TextPiece, ...]) -> list[str]:
    return [piece.text.strip() for piece in pieces if piece.is_changed]


@pytest.mark.parametrize(
    ("a", "b", "only_a", "only_b"),
    [
        ("Yes, until Friday.", "Yes, until Monday.", ["Friday"], ["Monday"]),
        ("It costs 5 euros", "It costs 5 euros", [], []),
        ("It  costs\n5 euros", "It costs 5 euros", [], []),
        ("", "All new", [], ["All new"]),
        ("All gone", "", ["All gone"], []),
        ("", "", [], []),
        ("one two three", "zero one three", ["two"], ["zero"]),
        ("Grüße aus Köln", "Grüße aus Bonn", ["Köln"], ["Bonn"]),
        ("a b, c d", "x y, z w", ["a b, c d"], ["x y, z w"]),
        ("I am Tom or so", "I was Tom and so", ["am", "or"], ["was", "and"]),
        (
            "Ask. About this at once, if you like",
            "He may play. Music at any later hour then",
            ["Ask. About this at once, if you like"],
            ["He may play. Music at any later hour then"],
        ),
    ],
)
def test_words_that_differ_are_found(a: str, b: str, only_a: list[str], only_b: list[str]) -> None:
    found = word_diff(a, b)

    assert (changed(found.a), changed(found.b)) == (only_a, only_b)
    assert found.is_equal is (not only_a and not only_b)


@given(
    st.lists(st.sampled_from("abc , . \n é<&"), max_size=60).map("".join),
    st.lists(st.sampled_from("abc , . \n é<&"), max_size=60).map("".join),
)
def test_pieces_are_the_texts_and_equal_pieces_are_the_same_words(a: str, b: str) -> None:
    found = word_diff(a, b)

    assert "".join(piece.text for piece in found.a) == a
    assert "".join(piece.text for piece in found.b) == b
    assert _kept(found.a) == _kept(found.b)


def _kept(pieces: tuple[TextPiece, ...]) -> str:
    return "".join("".join(one.text.split()) for one in pieces if not one.is_changed)


def test_long_texts_with_distant_changes_stay_aligned() -> None:
    words = [f"w{number}" for number in range(5_000)]
    other = [*words]
    other[7], other[2_500], other[4_990] = "x", "y", "z"

    found = word_diff(" ".join(words), " ".join(other))

    assert changed(found.a) == ["w7", "w2500", "w4990"]
    assert changed(found.b) == ["x", "y", "z"]


def test_repeated_words_without_a_unique_one_count_as_changed() -> None:
    many = 3 * module.MAX_CELLS
    found = word_diff("x " + "a b " * many + "y", "z " + "b a b " * many + "w")

    assert len(changed(found.a)) == 1


class _Counted(str):
    """A word that counts how often it is compared."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        _Counted.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def _comparisons(words: int, kind: str) -> int:
    chance = random.Random(words)
    known = {
        "shuffled": [f"w{number}" for number in range(words)],
        "few words": [f"w{number % 7}" for number in range(words)],
        "own words": [f"w{number}" for number in range(words)],
    }[kind]
    other = [f"v{one}" for one in known] if kind == "own words" else [*known]
    chance.shuffle(other)
    _Counted.comparisons = 0
    list(module._matches([*map(_Counted, known)], [*map(_Counted, other)], 0, 0, 0))  # pyright: ignore[reportPrivateUsage]
    return _Counted.comparisons


@pytest.mark.parametrize("kind", ["shuffled", "few words", "own words"])
@pytest.mark.parametrize("words", [4_000, 16_000])
def test_the_comparisons_of_a_word_stay_below_one_bound(kind: str, words: int) -> None:
    most = math.sqrt(module.MAX_CELLS) / 2 + 2 * module.MAX_DEPTH

    assert _comparisons(words, kind) / (2 * words) <= most


def test_what_differs_is_marked_and_stays_text() -> None:
    found = word_diff(f"a {HOSTILE}", "a b")
    html = marked(found.a, "del")

    assert set(re.findall(r"<[^>]*>", html)) == {"<del>", "</del>"}
    assert unescape(re.sub(r"<[^>]*>", "", html)) == f"a {HOSTILE}"
    assert marked(found.b, "ins") == "a <ins>b</ins>"


def test_equal_parts_can_be_left_out() -> None:
    long = " ".join(f"w{number}" for number in range(40))
    found = word_diff(f"{long} red {long}", f"{long} green {long}")

    shown = list(only_changes(found.b))

    assert shown[0] is None
    assert shown[-1] is None
    texts = [piece.text.strip() for piece in shown if piece]
    assert texts == [
        "w32 w33 w34 w35 w36 w37 w38 w39",
        "green",
        "w0 w1 w2 w3 w4 w5 w6 w7",
    ]
    assert "…" in marked(shown, "ins")
    same = WordDiff((TextPiece("short"),), (TextPiece("short"),))
    assert list(only_changes(same.a)) == [TextPiece("short")]
