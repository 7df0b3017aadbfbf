"""Places of rows that are known to be ours."""

from __future__ import annotations

import pytest

from steelyard.model.exemption import NOTHING, Exemption

OURS = Exemption.of("index", "trace.latency_ms", "source.*", numbers=("answers",))


@pytest.mark.parametrize(
    ("path", "is_ours"),
    [
        ("index", True),
        ("trace.latency_ms", True),
        ("source.data.json", False),
        ("source.data", True),
        ("latency_ms", False),
        ("trace", False),
        ("trace.extra.latency_ms", False),
        ("index.more", False),
    ],
)
def test_a_value_is_ours_at_its_place_alone(path: str, is_ours: bool) -> None:
    assert OURS.covers(tuple(path.split("."))) is is_ours


def test_numbers_are_ours_at_any_depth_beneath_a_place() -> None:
    assert OURS.covers_number(("answers", "trace", "tone"))
    assert not OURS.covers_number(("index",))
    assert Exemption.of(numbers=("",)).covers_number(("any", "where"))
    assert not NOTHING.covers_number(())
