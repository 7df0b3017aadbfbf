from __future__ import annotations

import pytest

from steelyard.model.json_value import JsonObject
from steelyard.settings import Price, TargetEntry


@pytest.mark.parametrize(
    ("row", "entry"),
    [
        ({"provider": "echo"}, TargetEntry(provider="echo")),
        (
            {"provider": "openai", "price": {"output": 2}, "model": "m", "seed": 1},
            TargetEntry(provider="openai", price=Price(output=2), extra={"model": "m", "seed": 1}),
        ),
        ({"provider": "echo", "price": {}}, TargetEntry(provider="echo")),
        (
            {"provider": "echo", "max_concurrency": 2.0},
            TargetEntry(provider="echo", max_concurrency=2),
        ),
        (
            {"provider": "echo", "resources": {"GPU": 1, "near": 0.5}},
            TargetEntry(provider="echo", resources={"GPU": 1, "near": 0.5}),
        ),
    ],
)
def test_an_entry_keeps_what_its_provider_takes_apart(row: JsonObject, entry: TargetEntry) -> None:
    assert TargetEntry.of(row) == entry
    assert TargetEntry.of(entry.row()) == entry
    assert "extra" not in entry.row()
