"""The keys of the review page."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files
from typing import get_args

import pytest

from steelyard.reports.review_keys import (
    ADJUDICATION_KEYS,
    KEYS,
    Action,
    badge_of,
    choice_keys,
    none_key,
)


@pytest.mark.parametrize(
    ("kind", "values", "keys"),
    [
        ("yes_no", ["1", "0"], ("y", "n")),
        ("score", ["0", "1", "2"], ("0", "1", "2")),
        ("score", [str(one) for one in range(1, 11)], tuple("1234567890")),
        ("score", [str(one) for one in range(11)], tuple("0123456789-")),
        ("score", ["0", "5", "10"], ("0", "5", "-")),
        ("score", ["0", "5", "10", "15", "20"], tuple("12345")),
        ("score", ["10", "20", "30"], tuple("123")),
        ("score", ["-1", "0", "1"], tuple("123")),
        ("single_select", list("abc"), ("1", "2", "3")),
        ("multi_select", list("abcdefghijkl"), (*"1234567890-", "")),
    ],
)
def test_an_answer_has_its_figure_its_letter_or_its_place(
    kind: str, values: list[str], keys: tuple[str, ...]
) -> None:
    assert choice_keys(kind, values) == keys


@pytest.mark.parametrize(("options", "key"), [(2, "0"), (9, "0"), (10, "-"), (11, "")])
def test_none_of_these_has_a_key_that_no_option_has(options: int, key: str) -> None:
    assert none_key(options) == key


def test_no_key_does_two_things() -> None:
    pressed = Counter((key, one.with_control) for one in KEYS for key in one.keys)

    assert set(pressed.values()) == {1}


def test_every_action_has_a_key_a_badge_and_a_handler_on_the_page() -> None:
    assert {one.action for one in KEYS} == set(get_args(Action))
    for action in get_args(Action):
        assert badge_of(action)
        assert action in handlers("review.js")


def test_every_key_of_adjudication_has_a_handler_there() -> None:
    assert {one.action for one in ADJUDICATION_KEYS} <= handlers("adjudicate.js")


def handlers(script: str) -> set[str]:
    """The actions that a script carries out, those that both pages share among them."""
    assets = files("steelyard.web") / "assets"
    own = (assets / script).read_text(encoding="utf-8")
    shared = (assets / "keys.js").read_text(encoding="utf-8")
    parts = (own.split("const actions = {")[1], shared.split("questionActions")[1])
    return {name for part in parts for name in re.findall(r"\n +(\w+)(?:: |\()", part)}
