"""A fingerprint belongs to one instrument."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.judging.fingerprint import fingerprint, identity

KNOWN: dict[str, Any] = {
    "template": "t",
    "frame": "f",
    "schema": {"type": "object"},
    "questions": ["q"],
    "instructions": {"rubric": "r"},
    "examples": ["e1"],
}


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("template", "u"),
        ("frame", "g"),
        ("schema", {"type": "array"}),
        ("questions", ["p"]),
        ("instructions", {"rubric": "s"}),
        ("examples", []),
        ("examples", ["e1", "e2"]),
    ],
)
def test_every_part_of_an_identity_counts(part: str, value: Any) -> None:
    assert identity(**{**KNOWN, part: value}) != identity(**KNOWN)


def test_an_identity_stays_the_same_for_ever() -> None:
    assert identity(**KNOWN) == identity(**KNOWN)
    assert len(identity(**KNOWN)) == 64


def test_model_and_sampling_are_part_of_a_fingerprint() -> None:
    prints = {
        fingerprint("i", "m-1", {"temperature": 0}),
        fingerprint("j", "m-1", {"temperature": 0}),
        fingerprint("i", "m-2", {"temperature": 0}),
        fingerprint("i", None, {"temperature": 0}),
        fingerprint("i", "m-1", {"temperature": 1}),
        fingerprint("i", "m-1", {}),
        fingerprint("i", "m-1", {}, "a file of replies"),
        fingerprint("i", "m-1", {}, "another file of replies"),
    }

    assert len(prints) == 8
    assert fingerprint("i", "m", {"a": 1, "b": 2}) == fingerprint("i", "m", {"b": 2, "a": 1})


def test_odd_text_has_a_fingerprint_too() -> None:
    odd: dict[str, Any] = {**KNOWN, "template": "\ud800ä"}

    assert identity(**odd) != identity(**KNOWN)
